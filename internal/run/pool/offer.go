package pool

import (
	"context"
	"fmt"
	"sync"

	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
	"mcptest/internal/mcp/protocol"
	"mcptest/internal/surface"
)

// offered is what a server offers in one session, as far as it is known.
type offered struct {
	mu    sync.Mutex // also while the lists are requested
	offer *surface.Offer
	calls int64    // how many calls the server had answered before
	since mcp.Mark // what the server had sent before
}

// Called notes that a call of a test or fixture has ended: it may have changed
// what the server offers.
func (s *Server) Called() { s.calls.Add(1) }

// Offer returns what the server offers in a session. The lists are requested when
// they are first needed, and again if a call has ended since, in any session of
// the server, or if it has sent a list_changed notification.
func (s *Server) Offer(ctx context.Context, sess *mcp.Session) (*surface.Offer, error) {
	var o *offered
	s.update(func(st *state) {
		if st.offers == nil {
			st.offers = map[*mcp.Session]*offered{}
		}
		if o = st.offers[sess]; o == nil {
			o = new(offered)
			st.offers[sess] = o
		}
	})
	o.mu.Lock()
	defer o.mu.Unlock()
	calls, mark := s.calls.Load(), sess.Mark()
	if o.offer != nil && calls == o.calls && !sess.ListChanged(o.since) {
		return o.offer, nil
	}
	limits := s.pool.deps.Opener.Options.Limits.WithDefaults()
	offer, err := surface.Fetch(ctx, sess.ServerInfo(), surface.Limits{Items: limits.Items, Pages: limits.Pages}, pages(sess, s.report))
	if err == nil {
		o.offer, o.calls, o.since = offer, calls, mark
	}
	return offer, err
}

// pages requests pages of lists. report gets the problems of the exchanges: no
// test has them, because what was read is used by several.
func pages(sess *mcp.Session, report func([]protocol.Violation)) surface.Request {
	return func(ctx context.Context, method string, params jsonv.Value) (jsonv.Value, error) {
		call := mcp.Call{Method: method, Own: true}
		if !params.IsAbsent() {
			call.Params = params.Append(nil)
		}
		x := sess.Do(ctx, call)
		v, deep, err := x.Parse(jsonv.Options{})
		report(append(x.Violations, deep...))
		switch {
		case x.Cause != nil:
			return v, x.Cause
		case x.RPCError() != nil:
			return v, x.RPCError()
		case err != nil:
			return v, fmt.Errorf("read the result of %s: %w", method, err)
		}
		return v.Lookup("result"), nil
	}
}
