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
	tests  api.Tests
	calls  [][]call // what each test does that may change something
	work   []string // what else a run of each file does; "": nothing
	defs   map[server]*plan.Server
	inputs []string // files that the suites depend on, other than their own
}

// call is a call of a tool, or work that nobody can judge before.
type call struct {
	server server
	tool   string
	other  string // what it is, if it is no call of a tool
}

// server names a server: two suites may have different ones of the same name.
type server struct{ file, name string }

func newServer(def *plan.Server) server {
	if def == nil {
		return server{}
	}
	return server{def.Pos.File.Name, def.Name}
}

// describeWork says what a run of a file does besides its tests; "" if that is nothing.
func describeWork(f *plan.File) string {
	hooks := len(f.BeforeAll) + len(f.AfterAll) + len(f.BeforeEach) + len(f.AfterEach)
	steps := len(f.Setup) + len(f.SetupPerTest) + len(f.TeardownPerTest) + len(f.Teardown)
	switch {
	case hooks > 0 && steps > 0:
		return "the hooks and the steps of setup and teardown in " + f.Path
	case hooks > 0:
		return "the hooks in " + f.Path
	case steps > 0:
		return "the steps of setup and teardown in " + f.Path
	}
	return ""
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
		if op.Server != nil {
			l.defs[newServer(op.Server)] = op.Server
		}
		if c.Skip == "" {
			calls = append(calls, listCalls(op)...)
		}
	}
	if c.SameAs != nil && len(calls) > 0 {
		calls = append(calls, call{other: "the same calls on other servers, for same_as of " + c.Name})
	}
	l.tests.List = append(l.tests.List, x)
	l.calls = append(l.calls, calls)
}

// listCalls returns what a request is or can lead to that may change something.
func listCalls(op *plan.Op) []call {
	to := newServer(op.Server)
	switch {
	case op.Action != nil && op.Action.Connects():
		return []call{{server: to, other: op.Action.Name() + " on " + to.name + ", which chooses what it calls"}}
	case op.Action != nil:
		return []call{{server: to, other: op.Action.Name() + " of " + to.name}}
	case op.Raw != nil:
		return []call{{server: to, other: "raw bytes to " + to.name}}
	case op.Method == "tools/call" && op.Subject == "":
		return []call{{server: to, other: "a request tools/call to " + to.name + " with its own params"}}
	case op.Method == "tools/call":
		return []call{{server: to, tool: op.Subject}}
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
