package mcp

import (
	"context"
	"time"

	"mcptest/internal/jsonv"
	"mcptest/internal/mcp/protocol"
)

// listTime bounds how long a tools/list is waited for that decides whether a
// call is sent again.
const listTime = time.Second

// idempotent reports whether a tools/call may be sent twice. Where no list of
// tools has said so, the server is asked: whether a call is repeated must not
// depend on what was sent before it.
func (s *Session) idempotent(ctx context.Context, params []byte) bool {
	name := protocol.TextOf(protocol.MemberOf(params, "name"))
	if yes, known := s.tools.idempotence(name); known {
		return yes
	}
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	var page []byte
	for range s.lim.Pages {
		x := s.Do(ctx, Call{Method: "tools/list", Params: page, Own: true})
		if yes, known := s.tools.idempotence(name); known || x.Result == nil {
			return yes
		}
		v, err := jsonv.Parse(x.Result)
		if err != nil {
			return false
		}
		page = jsonv.Object(jsonv.Member{Key: "cursor", Value: v.Lookup("nextCursor")}).Append(nil)
	}
	return false
}

// idempotence is what tools/list said of a tool; known is false when it may
// still say something.
func (t *toolTable) idempotence(name string) (yes, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	yes, listed := t.idempotent[name]
	return yes, listed || t.known
}
