package pool

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/offer/surface"
)

// offered is what a server offers in one session, as known so far.
type offered struct {
	mu    sync.Mutex // held while the lists are requested
	offer *surface.Offer
	calls int64    // number of calls the server had answered by then
	since mcp.Mark // position in the messages of the server at that time
}

// Called records the end of a call of a test or fixture, which may have changed
// what the server offers.
func (s *Server) Called() { s.calls.Add(1) }

// Offer returns what the server offers in a session. The lists are requested on
// first use, and again after a call in any session of the server or a list_changed
// notification.
func (s *Server) Offer(ctx context.Context, sess *mcp.Session) (*surface.Offer, error) {
	var o *offered
	s.update(func(st *state) {
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
	offer, err := surface.Fetch(ctx, sess.ServerInfo(), s.makeLimits(), readPages(sess, nil, s.report))
	if err == nil {
		o.offer, o.calls, o.since = offer, calls, mark
	}
	return offer, err
}

func (s *Server) makeLimits() surface.Limits {
	most := s.pool.deps.Opener.Options.Limits.FillDefaults()
	return surface.Limits{Items: most.Items, Pages: most.Pages}
}

// readPages returns a function that requests pages of lists, with HTTP headers. It passes
// violations to report and not to a test, because several tests use the lists.
func readPages(sess *mcp.Session, header http.Header, report func([]protocol.Violation)) surface.Request {
	return func(ctx context.Context, method string, params jsonv.Value) (jsonv.Value, error) {
		call := mcp.Call{Method: method, Own: true, Header: header}
		if !params.IsAbsent() {
			call.Params = params.Append(nil)
		}
		x := sess.Do(ctx, call)
		v, deep, err := x.Parse(jsonv.Options{})
		report(append(x.Violations, deep...))
		switch {
		case x.Cause != nil:
			return v, fmt.Errorf("%w%s", x.Cause, sess.FindOtherCall(x))
		case x.RPCError() != nil:
			return v, x.RPCError()
		case err != nil:
			return v, fmt.Errorf("read the result of %s: %w", method, err)
		}
		return v.Lookup("result"), nil
	}
}
