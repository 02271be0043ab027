package pool

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/check"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/spec/plan"
)

// listTime limits the time that all tests together wait for the list of tools. It
// starts with the first wait after the server has answered another request.
const listTime = time.Second

var errListLate = fmt.Errorf("tools/list got no response within %s of the first response", listTime)

// Tools is a server's list of tools. It is fetched once, in parallel with the first
// call. A list that was lost with its session is replaced by a new one.
type Tools struct {
	once   sync.Once
	sess   *mcp.Session  // written in once
	done   chan struct{} // closed when the list is complete or given up
	ctx    context.Context
	cancel context.CancelCauseFunc
	clock  sync.Once              // of the first wait
	ahead  func() <-chan struct{} // closed when no first call waits for the list any longer
	warned sync.Once
	forced bool // requested even from a server that does not declare tools

	listed // written before done is closed; now and complete return it
}

// listed is what a list of tools says.
type listed struct {
	undeclared bool // not requested, because the server does not declare tools
	err        error
	schemas    map[string]*check.OutputSchema // every tool; nil for one without a schema
	violations map[string]string              // of tools with an invalid entry
	inputs     map[string]jsonv.Value         // the inputSchema of every tool
	hints      map[string]jsonv.Value         // the annotations of every tool
	metas      map[string]jsonv.Value         // the _meta of every tool that has one
	dropped    map[string]string              // tools that a client must ignore, with the reason
}

func newTools() *Tools {
	t := &Tools{done: make(chan struct{})}
	t.ahead = sync.OnceValue(func() <-chan struct{} {
		over := make(chan struct{})
		time.AfterFunc(listTime, func() { close(over) })
		return over
	})
	t.ctx, t.cancel = context.WithCancelCause(context.Background())
	return t
}

// Tools returns the current list of tools.
func (s *Server) Tools() *Tools { return s.getState().tools }

// listTools requests the list of tools in a new session: the first time, and if the
// session of the last request ended before the list was complete.
func (s *Server) listTools(sess *mcp.Session) {
	t := s.Tools()
	t.fetch(s, sess)
	if t.sess != sess && t.awaitLost() {
		s.replaceTools(t, false).fetch(s, sess)
	}
}

// startTools returns the list of tools after a successful tools/call. If the server
// does not declare tools, the list is requested now: the result is checked like any other.
func (s *Server) startTools() *Tools {
	t := s.Tools()
	if t.getNow().undeclared {
		sess := t.sess
		t = s.replaceTools(t, true)
		t.fetch(s, sess)
	}
	return t
}

// replaceTools replaces a list unless it has been replaced, and returns the current one.
func (s *Server) replaceTools(t *Tools, forced bool) *Tools {
	return s.update(func(st *state) {
		if st.tools == t {
			st.tools = newTools()
			st.tools.forced = forced
		}
	}).tools
}

// fetch requests the list in the background, once.
func (t *Tools) fetch(s *Server, sess *mcp.Session) {
	t.once.Do(func() {
		t.sess = sess
		caps := sess.ServerInfo().Lookup("capabilities")
		if caps.Lookup("tools").IsAbsent() && !caps.IsAbsent() && !t.forced {
			t.undeclared = true
			close(t.done)
			return
		}
		go func() {
			defer close(t.done)
			ctx, cancel := mcp.WithLimit(t.ctx, "connect_timeout", s.Def.ConnectTimeout)
			defer cancel()
			if fault := s.pool.deps.Protect(func() { t.err = t.read(ctx, s, sess) }); fault != "" {
				t.err = errors.New(fault)
			}
			t.dropped = sess.UnusableTools()
			for _, name := range sortedKeys(t.dropped) {
				delete(t.schemas, name)
				s.warn("tool-header", fmt.Sprintf("tool %s was dropped: %s", name, t.dropped[name]))
			}
			late := errors.Is(context.Cause(t.ctx), errListLate)
			if late && t.err != nil {
				t.err = errListLate
			}
			if !late && t.ctx.Err() != nil {
				t.err = nil // given up
			} else if sess.Alive() {
				t.warn(s, &t.listed)
			}
		}()
	})
}

// awaitLost waits until a list whose session has ended is given up, and reports whether
// it is incomplete or was not requested, and may be requested again: a server that
// ended while nothing but tools/list was in flight could end on it again.
func (t *Tools) awaitLost() bool {
	if t.sess == nil || t.sess.Alive() {
		return false
	}
	<-t.done
	closed, ok := errors.AsType[*wire.ClosedError](t.err)
	if ok && !closed.Ours && len(closed.InFlight) == 1 && closed.InFlight[0].Method == "tools/list" {
		return false
	}
	return t.err != nil || t.undeclared
}

// warn reports once that the list could not be read.
// For a list that was lost with its session, warn is called when a result could not be
// checked, or at the end of the server: another session may replace the list before.
func (t *Tools) warn(s *Server, l *listed) {
	if l.err != nil && s.Def.ValidateOutput {
		what := "the tool list could not be read, so outputSchema is not checked: "
		if l.schemas != nil {
			what = "the tool list is incomplete, and outputSchema is checked only for the tools that were read: "
		}
		t.warned.Do(func() { s.warn("tool-list", what+l.err.Error()) })
	}
}

// stop gives up a list that is still being fetched.
func (t *Tools) stop() {
	t.cancel(nil)
	t.once.Do(func() { close(t.done) })
}

// Wait waits until the list is complete or given up, or the run ends. The time
// limit of a test, which applies to its calls, does not end the wait, so that the
// checks do not depend on the time left.
func (t *Tools) Wait(ctx context.Context) {
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

// ReadAhead waits for the list before the first call, which may end the server: a mistake in
// the call can then still be reported. It does not give up the list.
func (t *Tools) ReadAhead(ctx context.Context) {
	select {
	case <-t.done:
	case <-t.ahead():
	case <-ctx.Done():
	}
}

// complete waits for the list and returns what it says; nothing if it is not available.
func (t *Tools) complete(ctx context.Context) *listed {
	t.Wait(ctx)
	return t.getNow()
}

// getNow is complete without waiting.
func (t *Tools) getNow() *listed {
	select {
	case <-t.done:
		return &t.listed
	default:
		return &listed{}
	}
}

// Unusable returns the reason why a client must not call a tool, or "". It does not
// wait: if arguments are sent as headers, the caller has waited for the list.
func (t *Tools) Unusable(name string) string { return t.getNow().dropped[name] }

// Hints returns the annotations of a tool as far as they are known. It does not wait.
func (t *Tools) Hints(name string) jsonv.Value { return t.getNow().hints[name] }

// read reads every page of tools/list. Violations are findings of the run, because
// no test made the requests.
func (t *Tools) read(ctx context.Context, s *Server, sess *mcp.Session) error {
	schemas := map[string]*check.OutputSchema{}
	t.violations, t.inputs = map[string]string{}, map[string]jsonv.Value{}
	t.hints, t.metas = map[string]jsonv.Value{}, map[string]jsonv.Value{}
	seen := map[string]bool{}
	var params jsonv.Value
	limits := s.makeLimits()
	for range limits.Pages {
		res, err := readPage(ctx, s, sess, params)
		if err != nil {
			return err
		}
		t.schemas = schemas
		if err := t.addPage(s, sess.Protocol(), res.Lookup("tools"), limits.Items); err != nil {
			return err
		}
		cursor := res.Lookup("nextCursor")
		if cursor.Kind() != jsonv.KindString {
			return nil
		}
		if seen[cursor.Text()] {
			return fmt.Errorf("tools/list returned the cursor %s twice", cursor.Short(80))
		}
		seen[cursor.Text()] = true
		params = jsonv.ObjectOf("cursor", cursor)
		t.schemas = nil // unless the next page can be read
	}
	t.schemas = schemas
	return fmt.Errorf("tools/list has more than %d pages (limit: --max-list-pages)", limits.Pages)
}

// readPage requests one page of tools/list.
func readPage(ctx context.Context, s *Server, sess *mcp.Session, params jsonv.Value) (jsonv.Value, error) {
	res, err := readPages(sess, nil, s.report)(ctx, "tools/list", params)
	if err != nil {
		return res, err
	}
	for _, msg := range check.Page("tools", res) {
		s.reportList(msg)
	}
	if tools := res.Lookup("tools"); tools.Kind() != jsonv.KindArray {
		return res, fmt.Errorf("tools of the result of tools/list is %s, expected a list", tools.Kind())
	}
	return res, nil
}

// addPage adds the tools of one page.
func (t *Tools) addPage(s *Server, version string, tools jsonv.Value, most int) error {
	page := map[string]bool{} // a repeated page is detected by its cursor
	for i, tool := range tools.Elems() {
		name := tool.Lookup("name")
		violations := check.Entry(version, "tools/list", tool)
		if page[name.Text()] && name.Kind() == jsonv.KindString {
			violations = append(violations, "it is listed twice")
		}
		page[name.Text()] = true
		if len(violations) > 0 {
			text := strings.Join(violations, "; ")
			t.violations[name.Text()] = text
			s.reportList(check.Subject("tools", i, tool) + ": " + text)
		}
		if name.Kind() != jsonv.KindString {
			continue
		}
		if len(t.schemas) >= most {
			return fmt.Errorf("tools/list has more than %d tools (limit: --max-list-items); the rest was not read", most)
		}
		t.schemas[name.Text()] = check.NewOutputSchema(tool.Lookup("outputSchema"))
		t.inputs[name.Text()] = tool.Lookup("inputSchema")
		t.hints[name.Text()] = tool.Lookup("annotations")
		if meta := tool.Lookup("_meta"); !meta.IsAbsent() {
			t.metas[name.Text()] = meta
		}
	}
	return nil
}

// reportList reports a malformed tools/list, which no test requested.
func (s *Server) reportList(msg string) {
	s.report([]protocol.Violation{{Kind: protocol.BadResult, Msg: "tools/list: " + msg}})
}

// Request converts an operation to a call. A tool whose name has a slash is sent as
// a method unless the server lists it.
func (s *Server) Request(ctx context.Context, op *plan.Op) mcp.Call {
	call := mcp.Call{Method: op.Method, Params: op.Params, CancelAfter: op.CancelAfter}
	if op.MaybeMethod {
		l := s.Tools().complete(ctx)
		if _, has := l.schemas[op.Subject]; !has || l.err != nil {
			call.Method, call.Params = op.Subject, op.Args
		}
	}
	return call
}

// CheckOutput compares the result of a tools/call with the tool's outputSchema.
func (s *Server) CheckOutput(ctx context.Context, method, tool string, res jsonv.Value) check.Report {
	if !s.Def.ValidateOutput || method != "tools/call" || res.IsAbsent() || res.Lookup("isError").Bool() {
		return check.Report{}
	}
	t := s.startTools()
	l := t.complete(ctx)
	schema := l.schemas[tool]
	if schema == nil {
		t.warn(s, l)
	}
	return schema.Check(ctx, tool, res)
}

// ToolMeta returns the _meta of a tool's definition, absent if it has none. It waits for the
// list, and requests none.
func (s *Server) ToolMeta(ctx context.Context, tool string) jsonv.Value {
	return s.Tools().complete(ctx).metas[tool]
}

// OutputSchema returns the schema of a tool's structuredContent, absent if it has none. It
// only requests the list if the server's output is validated.
func (s *Server) OutputSchema(ctx context.Context, tool string) jsonv.Value {
	if !s.Def.ValidateOutput {
		return jsonv.Value{}
	}
	return s.startTools().complete(ctx).schemas[tool].Doc()
}

// ToolViolation describes the mistake in a tool's entry in tools/list, or returns
// "". It only requests the list if the server's output is validated.
func (s *Server) ToolViolation(ctx context.Context, tool string) string {
	if !s.Def.ValidateOutput {
		return ""
	}
	return s.Tools().complete(ctx).violations[tool]
}
