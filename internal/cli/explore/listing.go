package explore

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"mcptest/internal/spec/plan"
	"mcptest/internal/ui/api"
	"mcptest/internal/ui/live"
)

// maxTests bounds the tests that the page lists. More are run, and counted.
const maxTests = 20_000

// listing is what the page knows of the suites.
type listing struct {
	tests api.Tests
	calls [][]call // that each test makes
}

// call is a call of a test, or a conversation, in which a model chooses the calls.
type call struct {
	server, tool string
	chosen       bool // by a model
}

// add adds a test.
func (l *listing) add(c *plan.Case, file int) {
	x := api.Test{Name: c.Name, File: file, Line: c.Pos.Line, Tags: c.Tags}
	if c.Server != nil {
		x.Server = c.Server.Name
	}
	var calls []call
	for _, op := range c.Ops {
		if op.Action != nil {
			x.Call = op.Action.Name()
		} else {
			x.Call = strings.TrimSpace(op.Method + " " + op.Subject)
		}
		if c.Skip == "" {
			calls = append(calls, callsOf(op)...)
		}
	}
	l.tests.List = append(l.tests.List, x)
	l.calls = append(l.calls, calls)
}

// callsOf returns the calls of tools that a request is or can lead to.
func callsOf(op *plan.Op) []call {
	name := ""
	if op.Server != nil {
		name = op.Server.Name
	}
	switch {
	case op.Action != nil && op.Action.Connects():
		return []call{{server: name, chosen: true}}
	case op.Action == nil && op.Method == "tools/call":
		return []call{{server: name, tool: op.Subject}}
	case op.Action == nil && op.Raw != nil:
		return []call{{server: name, tool: "(raw bytes)"}}
	}
	return nil
}

// selection is what a run is about.
type selection struct {
	files   []string
	names   []string // nil: all tests of the files
	tests   []int    // numbers in the listing
	numbers map[testName][]int
	key     string // equal for equal selections
}

// testName names a test: equal names are told apart by their order.
type testName struct{ file, name string }

// choose returns the tests that a person selected. With a name every test of that name in the
// files is selected, because that is what the command line can say.
func (l *listing) choose(s api.Selection) (selection, error) {
	switch {
	case l.tests.Problem != "":
		return selection{}, &live.RefusedError{Reason: l.tests.Problem}
	case s.Version != l.tests.Version:
		return selection{}, &live.RefusedError{Reason: "the suites have changed: look at the tests again"}
	}
	out := selection{
		key: fmt.Sprintf("%s %t %t %v", s.Version, s.All, s.FailFast, s.Tests), numbers: map[testName][]int{},
	}
	if s.All {
		out.files = l.tests.Files
		for i := range l.tests.List {
			l.take(&out, i)
		}
		return out, nil
	}
	files, names := map[int]bool{}, map[string]bool{}
	for _, n := range s.Tests {
		if n < 0 || n >= len(l.tests.List) {
			return selection{}, &live.RefusedError{Reason: "there is no test with this number"}
		}
		files[l.tests.List[n].File], names[l.tests.List[n].Name] = true, true
	}
	if len(files) == 0 {
		return selection{}, &live.RefusedError{Reason: "no test is selected"}
	}
	for i, path := range l.tests.Files {
		if files[i] {
			out.files = append(out.files, path)
		}
	}
	out.names = slices.Sorted(maps.Keys(names))
	for i, x := range l.tests.List {
		if files[x.File] && names[x.Name] {
			l.take(&out, i)
		}
	}
	return out, nil
}

// take adds a test to a selection.
func (l *listing) take(s *selection, i int) {
	x := &l.tests.List[i]
	name := testName{l.tests.Files[x.File], x.Name}
	s.tests = append(s.tests, i)
	s.numbers[name] = append(s.numbers[name], i)
}
