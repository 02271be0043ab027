package run

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
	"mcptest/internal/mcp/check"
	"mcptest/internal/result"
)

// listTime is how long tests wait for the list of tools, all of them together.
// The first wait begins when the server has answered something else.
const listTime = time.Second

var errListLate = fmt.Errorf("tools/list was not answered within %s of the first answer", listTime)

// toolIndex is what a server's tools/list said: which tools there are and
// what they promise to answer. It is fetched once, beside the first call.
type toolIndex struct {
	once   sync.Once
	done   chan struct{} // closed when the list is here, or never will be
	ctx    context.Context
	cancel context.CancelCauseFunc
	clock  sync.Once // of the first wait

	err        error
	schemas    map[string]*check.OutputSchema // every tool; nil for one without a schema
	violations map[string]string              // of tools whose entry breaks the protocol
	inputs     map[string]jsonv.Value         // the inputSchema of every tool
	dropped    map[string]string              // tools that a client must not use, and why
}

func newToolIndex() *toolIndex {
	t := &toolIndex{done: make(chan struct{})}
	t.ctx, t.cancel = context.WithCancelCause(context.Background())
	return t
}

// fetch asks for the list in the background, once.
func (t *toolIndex) fetch(e *entry, sess *mcp.Session) {
	t.once.Do(func() {
		caps := sess.ServerInfo().Lookup("capabilities")
		if caps.Lookup("tools").IsAbsent() && !caps.IsAbsent() {
			close(t.done)
			return
		}
		go func() {
			defer close(t.done)
			ctx, cancel := mcp.WithLimit(t.ctx, "connect_timeout", e.def.ConnectTimeout)
			defer cancel()
			if fault := e.r.protect(func() { t.schemas, t.err = t.list(ctx, e, sess) }); fault != "" {
				t.err = errors.New(fault)
			}
			t.dropped = sess.Dropped()
			for _, name := range sortedKeys(t.dropped) {
				delete(t.schemas, name)
				e.finding(result.Finding{
					Kind: "tool-header", Severity: "warning",
					Message: fmt.Sprintf("tool %s was dropped: %s", name, t.dropped[name]),
				})
			}
			late := errors.Is(context.Cause(t.ctx), errListLate)
			if late && t.err != nil {
				t.err = errListLate
			}
			if t.err != nil && (late || t.ctx.Err() == nil) && e.def.ValidateOutput {
				e.finding(result.Finding{
					Kind: "tool-list", Severity: "warning",
					Message: "the tool list could not be read, so outputSchema is not checked: " + t.err.Error(),
				})
			}
		}()
	})
}

// stop gives up a list that is still on its way.
func (t *toolIndex) stop() {
	t.cancel(nil)
	t.once.Do(func() { close(t.done) })
}

// wait waits until the list is here or was given up, or the run ends. It does
// not end with the time of a test, which is for the test's calls: what is
// checked may not depend on how much of it was left.
func (t *toolIndex) wait(ctx context.Context) {
	t.clock.Do(func() { time.AfterFunc(listTime, func() { t.cancel(errListLate) }) })
	select {
	case <-t.done:
		return
	case <-ctx.Done():
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		<-t.done
	}
}

// has reports whether the server lists a tool of that name; known is false
// when there is no list.
func (t *toolIndex) has(ctx context.Context, name string) (has, known bool) {
	t.wait(ctx)
	select {
	case <-t.done:
		_, has = t.schemas[name]
		return has, t.err == nil && t.schemas != nil
	default:
		return false, false
	}
}

// schema returns what a tool promises to answer, nil for nothing.
func (t *toolIndex) schema(ctx context.Context, name string) *check.OutputSchema {
	t.wait(ctx)
	select {
	case <-t.done:
		return t.schemas[name]
	default:
		return nil
	}
}

// list reads every page of tools/list. What is wrong with the exchanges
// is reported of the run: no test made them.
func (t *toolIndex) list(ctx context.Context, e *entry, sess *mcp.Session) (map[string]*check.OutputSchema, error) {
	out := map[string]*check.OutputSchema{}
	t.violations, t.inputs = map[string]string{}, map[string]jsonv.Value{}
	seen := map[string]bool{}
	var params []byte
	limits := e.r.w.Limits.WithDefaults()
	for range limits.Pages {
		x := sess.Do(ctx, mcp.Call{Method: "tools/list", Params: params, Own: true})
		list, deep, err := x.Parse(jsonv.Options{})
		for _, f := range e.findings(append(x.Violations, deep...)) {
			e.r.finding(f)
		}
		if x.Cause != nil {
			return nil, x.Cause
		}
		if err := x.RPCError(); err != nil {
			return nil, err
		}
		if err != nil {
			return nil, fmt.Errorf("read tools/list: %w", err)
		}
		res := list.Lookup("result")
		tools := res.Lookup("tools")
		for _, msg := range check.ToolsPage(res) {
			e.listViolation(msg)
		}
		if tools.Kind() != jsonv.KindArray {
			return nil, fmt.Errorf("tools of the result of tools/list is %s, want a list", tools.Kind())
		}
		page := map[string]bool{} // a page that comes again is reported below
		for _, tool := range tools.Elems() {
			name := tool.Lookup("name")
			violation := check.Tool(tool)
			if page[name.Text()] && violation == "" {
				violation = "it is listed twice"
			}
			page[name.Text()] = true
			if violation != "" {
				if name.Kind() == jsonv.KindString {
					t.violations[name.Text()] = violation
					violation = "tool " + name.Short(80) + ": " + violation
				}
				e.listViolation(violation)
			}
			if name.Kind() != jsonv.KindString {
				continue
			}
			if len(out) >= limits.Items {
				return out, fmt.Errorf("tools/list has more than %d tools (limit: --max-list-items); the rest was not read", limits.Items)
			}
			out[name.Text()], t.inputs[name.Text()] = check.NewOutputSchema(tool.Lookup("outputSchema")), tool.Lookup("inputSchema")
		}
		cursor := res.Lookup("nextCursor")
		if cursor.Kind() != jsonv.KindString {
			return out, nil
		}
		if seen[cursor.Text()] {
			return out, fmt.Errorf("tools/list gave the cursor %q twice", cursor.Short(80))
		}
		seen[cursor.Text()] = true
		params = jsonv.Object(jsonv.Member{Key: "cursor", Value: cursor}).Append(nil)
	}
	return out, fmt.Errorf("tools/list has more than %d pages (limit: --max-list-pages)", limits.Pages)
}

// listViolation reports a malformed tools/list, which no test requested.
func (e *entry) listViolation(msg string) {
	for _, f := range e.findings([]mcp.Violation{{Kind: mcp.BadResult, Msg: "tools/list: " + msg}}) {
		e.r.finding(f)
	}
}

// violation describes what is wrong with the entry of a tool in the list.
func (t *toolIndex) violation(ctx context.Context, name string) string {
	t.wait(ctx)
	select {
	case <-t.done:
		return t.violations[name]
	default:
		return ""
	}
}

// toolViolation is violation for a server whose output is validated: only there is
// the list waited for.
func (e *entry) toolViolation(ctx context.Context, tool string) string {
	if !e.def.ValidateOutput {
		return ""
	}
	return e.tools.violation(ctx, tool)
}

// unusable says why a client must not call a tool. It does not wait: where
// arguments are headers, the list was waited for before.
func (t *toolIndex) unusable(name string) string {
	select {
	case <-t.done:
		return t.dropped[name]
	default:
		return ""
	}
}
