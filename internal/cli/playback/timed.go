package playback

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"mcptest/internal/base/display"
	"mcptest/internal/report/result"
	"mcptest/internal/spec/plan"
	"mcptest/internal/tape/cassette"
)

// timed collects the tests whose assertions examine how long calls took: in a replay they
// say nothing about the server. For --damage it also collects those that
// call something and passed.
type timed struct {
	mu     sync.Mutex
	cases  map[int]*plan.Case // by index
	passed []*plan.Case
}

// add notes a test that was run.
func (t *timed) add(c *plan.Case, passed bool) {
	if passed && slices.ContainsFunc(c.Ops, func(op *plan.Op) bool { return op.Method != "" && !cassette.IsOverhead(op.Method) }) {
		t.mu.Lock()
		t.passed = append(t.passed, c)
		t.mu.Unlock()
	}
	is := c.Tree.MaxDuration != nil || c.Tree.Uses().Times()
	for _, op := range c.Ops {
		is = is || op.Tree != nil && (op.Tree.MaxDuration != nil || op.Tree.Uses().Times())
		is = is || slices.ContainsFunc(op.Capture, func(cp plan.Capture) bool { return cp.Target != nil && cp.Target.Uses().Times() })
	}
	if !is {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.cases == nil {
		t.cases = map[int]*plan.Case{}
	}
	t.cases[c.Index] = c
}

// findings returns the warning that names the tests.
func (t *timed) findings() []result.Finding {
	t.mu.Lock()
	defer t.mu.Unlock()
	var names []string
	var first *plan.Case
	for _, i := range slices.Sorted(maps.Keys(t.cases)) {
		if first == nil {
			first = t.cases[i]
		}
		names = append(names, t.cases[i].Name)
	}
	if first == nil {
		return nil
	}
	return []result.Finding{{
		Kind: "replayed-times", Severity: "warning", File: first.File.Path, Line: first.Pos.Line,
		Message: fmt.Sprintf("the times in %s are those of the replay: assertions on duration_ms and max_duration_ms say nothing about the server, "+
			"and their result may differ from the recorded run: %s", display.Count(len(names), "test"), firstOf(names)),
	}}
}

// unnoticed returns a finding for each test that passed with damaged responses.
func (t *timed) unnoticed() (list []result.Finding) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.passed {
		list = append(list, result.Finding{
			Kind: "unnoticed-damage", Severity: "error", File: c.File.Path, Line: c.Pos.Line,
			Message: c.Name + ": it passes although every value of the responses was changed; assert what they must be",
		})
	}
	return list
}
