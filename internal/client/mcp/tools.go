package mcp

import (
	"bytes"
	"context"
	"maps"
	"sync"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/conn"
	"mcptest/internal/client/protocol"
)

// toolTable holds the data of tools/list that a session uses: arguments to repeat as
// headers, tools that must not be used, and idempotent tools.
type toolTable struct {
	send  *sender
	do    func(context.Context, Call) *Exchange // Session.Do
	stdio bool
	pages int // of a list

	mu         sync.Mutex
	known      bool // a complete list was read
	headers    map[string][]protocol.ParamHeader
	dropped    map[string]string // Name → why
	idempotent map[string]bool
}

// listInvalid returns the tools with an invalid x-mcp-header, with the reasons.
func (t *toolTable) listInvalid() map[string]string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.dropped)
}

// update reads a response to tools/list.
func (t *toolTable) update(x *Exchange, d protocol.Version) {
	v, err := jsonv.Parse(x.Result)
	if err != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.headers == nil {
		t.headers, t.dropped, t.idempotent = map[string][]protocol.ParamHeader{}, map[string]string{}, map[string]bool{}
	}
	for _, tool := range v.Lookup("tools").Elems() {
		name := tool.Lookup("name").Text()
		if name == "" || len(t.idempotent) >= maxKnownTools {
			continue
		}
		t.idempotent[name] = tool.Lookup("annotations", "idempotentHint").Bool()
		if !d.Stateless || t.stdio {
			continue
		}
		hs, fault := protocol.ParamHeaders(tool.Lookup("inputSchema"))
		if fault != "" {
			t.dropped[name] = fault
			hs = nil
		}
		t.headers[name] = hs
	}
	if v.Lookup("nextCursor").Kind() != jsonv.KindString {
		t.known = true
	}
}

// maxKnownTools limits the size of the table.
const maxKnownTools = 10_000

// call sends a request with the headers that repeat its arguments. A call that was
// rejected because the tool's schema was not known is repeated with the schema,
// because servers check headers before executing the call.
func (t *toolTable) call(ctx context.Context, c Call) *Exchange {
	if c.Method != "tools/call" || t.stdio {
		return t.send.sendOnce(ctx, c, conn.Delivery{})
	}
	name := protocol.TextOf(protocol.MemberOf(c.Params, "name"))
	t.mu.Lock()
	known, headers := t.known, t.headers[name]
	t.mu.Unlock()
	mirror := protocol.ParamValues(headers, c.Params)
	x := t.send.sendOnce(ctx, c, conn.Delivery{Mirror: mirror})
	if known || x.Error == nil || x.RPCError().Code != protocol.CodeHeaderMismatch {
		return x
	}
	if !t.list(ctx, "") {
		return x
	}
	t.mu.Lock()
	headers = t.headers[name]
	t.mu.Unlock()
	if mirror = protocol.ParamValues(headers, c.Params); len(mirror) == 0 {
		return x
	}
	return joinRounds([]*Exchange{x}, t.send.sendOnce(ctx, c, conn.Delivery{Mirror: mirror}))
}

// list reads tools/list until a tool is known; without a name, all of it. It reports
// whether that was possible.
func (t *toolTable) list(ctx context.Context, name string) bool {
	var params []byte
	seen := map[string]bool{}
	for range t.pages {
		x := t.do(ctx, Call{Method: "tools/list", Params: params, Own: true})
		if x.Cause != nil || x.Error != nil {
			return false
		}
		cursor := protocol.MemberOf(x.Result, "nextCursor")
		if _, known := t.findIdempotence(name); known || protocol.KindOf(cursor) != jsonv.KindString {
			return true
		}
		if seen[string(cursor)] {
			return false
		}
		seen[string(cursor)] = true
		params = append(append([]byte(`{"cursor":`), bytes.Clone(cursor)...), '}')
	}
	return false
}

// listTime limits the wait for a tools/list that decides whether a call is repeated.
const listTime = time.Second

// isRepeatable reports whether a tools/call may be sent twice. If the list of tools is
// not known, it is requested, so that the result does not depend on earlier requests.
func (t *toolTable) isRepeatable(ctx context.Context, params []byte) bool {
	name := protocol.TextOf(protocol.MemberOf(params, "name"))
	if yes, known := t.findIdempotence(name); known {
		return yes
	}
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	t.list(ctx, name)
	yes, _ := t.findIdempotence(name)
	return yes
}

// findIdempotence returns whether tools/list declares a tool as idempotent; known is
// false if the list may be requested.
func (t *toolTable) findIdempotence(name string) (yes, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	yes, listed := t.idempotent[name]
	return yes, listed || t.known
}
