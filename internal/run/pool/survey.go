package pool

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/offer/surface"
	"mcptest/internal/spec/plan"
)

var errEnded = errors.New("no reason is known")

// Ending returns the started servers that no later file uses.
func (p *Pool) Ending(file *plan.File, later []*plan.File) (out []*Server) {
	ends := findNotNeededLater(file, later)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.order {
		if ends(s) && !s.closed && s.getState().starts > 0 {
			out = append(out, s)
		}
	}
	return out
}

// Survey requests what a server offers after its tests. It uses a session of the
// tests, or a new one if each test had its own. It ignores violations, because no
// test made these requests.
func (s *Server) Survey(ctx context.Context) (*surface.Offer, error) {
	sess, err := s.findIdle(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := mcp.WithLimit(ctx, "connect_timeout", s.Def.ConnectTimeout)
	defer cancel()
	return surface.Fetch(ctx, sess.ServerInfo(), s.makeLimits(), readPages(sess, nil, func([]protocol.Violation) {}))
}

// findIdle returns a session of the server. It does not replace a session that has
// ended.
func (s *Server) findIdle(ctx context.Context) (*mcp.Session, error) {
	for _, slot := range s.slots {
		slot.gate.acquire(true)
		sess, err := slot.sess, slot.err
		slot.gate.release(true)
		switch {
		case err != nil:
			return nil, err
		case sess != nil && sess.Alive():
			return sess, nil
		case sess != nil:
			return nil, fmt.Errorf("the server had ended: %w", cmp.Or(sess.Err(), errEnded))
		}
	}
	return s.First().Session(ctx)
}
