package playback

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"mcptest/internal/assert/expect"
	"mcptest/internal/base/display"
	"mcptest/internal/base/lists"
	"mcptest/internal/report/result"
	"mcptest/internal/spec/plan"
	"mcptest/internal/tape/cassette"
)

// judged collects the tests whose result in a replay needs a comment.
type judged struct {
	mu     sync.Mutex
	timed  []*plan.Case // their assertions examine how long calls took
	passed []*plan.Case // although the responses to their calls were damaged
}

// add notes a test that was run. passed is only set if responses are damaged.
func (j *judged) add(c *plan.Case, passed bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if examinesTimes(c) {
		j.timed = append(j.timed, c)
	}
	if passed && makesCalls(c) {
		j.passed = append(j.passed, c)
	}
}

// examinesTimes reports whether an assertion or a capture of a test is about how long calls took.
func examinesTimes(c *plan.Case) bool {
	if usesTimes(c.Tree) {
		return true
	}
	for _, op := range c.Ops {
		if op.Tree != nil && usesTimes(op.Tree) {
			return true
		}
		for _, cp := range op.Capture {
			if cp.Target != nil && cp.Target.Uses().Times() {
				return true
			}
		}
	}
	return false
}

func usesTimes(tree *expect.Tree) bool { return tree.MaxDuration != nil || tree.Uses().Times() }

// makesCalls reports whether a test makes calls whose responses are damaged.
func makesCalls(c *plan.Case) bool {
	for _, op := range c.Ops {
		if op.Method != "" && !cassette.IsOverhead(op.Method) {
			return true
		}
	}
	return false
}

// listFindings returns the warning that names the timed tests, and one error for each test
// that did not notice the damage.
func (j *judged) listFindings() (list []result.Finding) {
	j.mu.Lock()
	defer j.mu.Unlock()
	names := lists.Map(sortCases(j.timed), func(c *plan.Case) string { return c.Name })
	if names != nil {
		list = append(list, result.Finding{
			Kind: "replayed-times", Severity: "warning", File: j.timed[0].File.Path, Line: j.timed[0].Pos.Line,
			Message: fmt.Sprintf("the times in %s are those of the replay: assertions on duration_ms and max_duration_ms say nothing about the server, "+
				"and their result may differ from the recorded run: %s", display.Count(len(names), "test"), formatFirst(names)),
		})
	}
	for _, c := range sortCases(j.passed) {
		list = append(list, result.Finding{
			Kind: "unnoticed-damage", Severity: "error", File: c.File.Path, Line: c.Pos.Line,
			Message: c.Name + ": it passes although the contents of the responses were changed; assert what they must be",
		})
	}
	return list
}

// sortCases sorts tests as they are in the suites.
func sortCases(cases []*plan.Case) []*plan.Case {
	slices.SortFunc(cases, func(a, b *plan.Case) int { return cmp.Compare(a.Index, b.Index) })
	return cases
}
