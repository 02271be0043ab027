package run

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
	"mcptest/internal/result"
	"mcptest/internal/source"
)

// schemaTime is how long one validation against an outputSchema may take.
const schemaTime = time.Second

// toolIndex is what a server's tools/list said: which tools there are and
// what they promise to answer. It is fetched once, beside the first call.
type toolIndex struct {
	once   sync.Once
	done   chan struct{} // closed when the list is here, or never will be
	ctx    context.Context
	cancel context.CancelFunc

	err     error
	schemas map[string]*outputSchema // every tool; nil for one without a schema
	faults  map[string]string        // of tools that are not as the protocol has them
	dropped map[string]string        // tools that a client must not use, and why
}

// outputSchema is compiled when it is first needed.
type outputSchema struct {
	doc  jsonv.Value
	once sync.Once
	s    *jsonv.Schema
	err  error
}

func newToolIndex() *toolIndex {
	t := &toolIndex{done: make(chan struct{})}
	t.ctx, t.cancel = context.WithCancel(context.Background())
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
				e.r.finding(result.Finding{
					Kind: "tool-header", Severity: "warning", Server: e.def.Name,
					Message: fmt.Sprintf("tool %s was dropped: %s", name, t.dropped[name]),
				})
			}
			if t.err != nil && t.ctx.Err() == nil && e.def.ValidateOutput {
				e.r.finding(result.Finding{
					Kind: "tool-list", Severity: "warning", Server: e.def.Name,
					Message: "the tool list could not be read, so outputSchema is not checked: " + t.err.Error(),
				})
			}
		}()
	})
}

// stop gives up a list that is still on its way.
func (t *toolIndex) stop() {
	t.cancel()
	t.once.Do(func() { close(t.done) })
}

// wait waits until the list is here or the context ends.
func (t *toolIndex) wait(ctx context.Context) {
	select {
	case <-t.done:
	case <-ctx.Done():
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

// unlisted says, for the message of a call that failed, that the server lists
// no tool of a name; "" when it does, or when there is no list.
func (t *toolIndex) unlisted(ctx context.Context, name string) string {
	if has, known := t.has(ctx, name); has || !known {
		return ""
	}
	hint := "; the server lists no tool " + strconv.Quote(name)
	if near := source.Nearest(name, sortedKeys(t.schemas)); near != "" {
		hint += " (did you mean " + strconv.Quote(near) + "?)"
	}
	return hint
}

// schema returns what a tool promises to answer, nil for nothing.
func (t *toolIndex) schema(ctx context.Context, name string) *outputSchema {
	t.wait(ctx)
	select {
	case <-t.done:
		return t.schemas[name]
	default:
		return nil
	}
}

// compiled compiles the schema once.
func (o *outputSchema) compiled() (*jsonv.Schema, error) {
	o.once.Do(func() { o.s, o.err = jsonv.CompileSchema(o.doc, jsonv.SchemaOptions{DefaultDraft: "2020-12"}) })
	return o.s, o.err
}

// list reads every page of tools/list. What is wrong with the exchanges
// is reported of the run: no test made them.
func (t *toolIndex) list(ctx context.Context, e *entry, sess *mcp.Session) (map[string]*outputSchema, error) {
	out := map[string]*outputSchema{}
	t.faults = map[string]string{}
	seen := map[string]bool{}
	var params []byte
	limits := e.r.w.Limits.WithDefaults()
	for range limits.Pages {
		x := sess.Do(ctx, mcp.Call{Method: "tools/list", Params: params})
		for _, f := range e.findings(x.Violations) {
			e.r.finding(f)
		}
		if x.Cause != nil {
			return nil, x.Cause
		}
		if err := x.RPCError(); err != nil {
			return nil, err
		}
		res, err := jsonv.Parse(x.Result)
		if err != nil {
			return nil, fmt.Errorf("read tools/list: %w", err)
		}
		tools := res.Lookup("tools")
		for _, msg := range pageFaults(res) {
			e.listFault(msg)
		}
		if tools.Kind() != jsonv.KindArray {
			return nil, fmt.Errorf("tools of the result of tools/list is %s, want a list", tools.Kind())
		}
		page := map[string]bool{} // a page that comes again is another fault
		for _, tool := range tools.Elems() {
			name := tool.Lookup("name")
			fault := toolFault(tool)
			if page[name.Text()] && fault == "" {
				fault = "it is listed twice"
			}
			page[name.Text()] = true
			if fault != "" {
				if name.Kind() == jsonv.KindString {
					t.faults[name.Text()] = fault
					fault = "tool " + name.Short(80) + ": " + fault
				}
				e.listFault(fault)
			}
			if name.Kind() != jsonv.KindString {
				continue
			}
			if len(out) >= limits.Items {
				return out, fmt.Errorf("tools/list has more than %d tools (limit: --max-list-items); the rest was not read", limits.Items)
			}
			var schema *outputSchema
			if doc, ok := tool.Get("outputSchema"); ok && doc.Kind() == jsonv.KindObject {
				schema = &outputSchema{doc: doc}
			}
			out[name.Text()] = schema
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
