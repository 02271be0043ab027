package line

import (
	"mcptest/internal/assert/target"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/report/result"
	"mcptest/internal/run/coverage"
	"mcptest/internal/spec/plan"
)

// measured collects what a walk adds to the coverage of the run.
type measured struct{ list []examined }

// examined is the coverage data of one operation.
type examined struct {
	server *coverage.Server
	method string
	params jsonv.Value
	result bool // an assertion examined the result
	lists  []coverage.Assertion
}

// add records an operation on a server that got a response, and the assertions on it. The
// server is nil if nothing is measured, x if the operation is no call.
func (m *measured) add(server *coverage.Server, op *plan.Op, x *mcp.Exchange, items []result.Assertion) {
	if server == nil {
		return
	}
	e := examined{server: server}
	if x != nil {
		frame, _ := jsonv.Parse(x.Request)
		e.method, e.params = frame.Lookup("method").Text(), frame.Lookup("params")
	}
	for _, cp := range op.Capture {
		e.addTarget(cp.Target.String(), "")
	}
	e.addAssertions(items)
	m.list = append(m.list, e)
}

// count adds it to the coverage of the run, unless there was no response.
func (m *measured) count(status result.Status) {
	if status != result.Pass && status != result.Fail {
		return
	}
	for _, e := range m.list {
		e.server.Call(e.method, e.params, e.result)
		for _, l := range e.lists {
			e.server.Assert(l)
		}
	}
}

func (e *examined) addAssertions(items []result.Assertion) {
	for i := range items {
		if items[i].Set {
			e.addAssertions(items[i].Assertions)
		} else {
			e.addTarget(items[i].Target, items[i].Matcher)
		}
	}
}

func (e *examined) addTarget(text, matcher string) {
	t, err := target.Parse(text)
	if err != nil {
		return
	}
	switch root := t.Root(); root {
	case "result", "error", "refusal", "text", "structured":
		e.result = true
		if e.method == "tools/list" && root == "result" {
			e.lists = append(e.lists, coverage.Assertion{Target: text, Matcher: matcher})
		}
	case "surface":
		e.lists = append(e.lists, coverage.Assertion{Target: text, Matcher: matcher})
	}
}
