package live

import (
	"context"
	"sync"

	"mcptest/internal/client/conn"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/offer/surface"
	"mcptest/internal/run/inspect"
	"mcptest/internal/spec/plan"
)

// Connect starts connecting to a server, with a protocol version; "" is that of the
// definition.
func (h *Hub) Connect(id int, version string) error {
	s, err := h.Server(id)
	if err != nil {
		return err
	}
	if version != "" && version != mcp.Auto && !protocol.VersionOf(version).Known() {
		return refuse("unknown protocol version")
	}
	select {
	case s.use <- struct{}{}:
	default:
		return refuse("the server is busy")
	}
	s.mu.Lock()
	if s.status == Connected || s.status == Connecting {
		s.mu.Unlock()
		<-s.use
		return refuse("the server is connected")
	}
	def := *s.def
	if version != "" {
		def.Protocol = version
	}
	ctx, cancel := context.WithCancel(h.ctx)
	s.version, s.cancel, s.layers, s.offer = version, cancel, nil, nil
	s.status, s.reason = Connecting, nil
	s.mu.Unlock()
	h.touch()
	h.wg.Go(func() {
		release := s.releaseOnce()
		defer release()
		h.open(ctx, s, &def, release)
		h.touch()
	})
	return nil
}

// releaseOnce returns what gives the connection of a server back: at the latest when the work
// on it ends, and before that together with the result, under the lock. A person who sees the
// result and clicks at once is not refused.
func (s *Server) releaseOnce() func() {
	return sync.OnceFunc(func() { <-s.use })
}

// open opens a session, or finds out why that is not possible.
func (h *Hub) open(ctx context.Context, s *Server, def *plan.Server, release func()) {
	c := h.dial(s, def)
	err := c.Open(ctx)
	if err != nil {
		c.Close()
		if ctx.Err() != nil {
			s.set(Off)
			return
		}
		s.set(Failed, failure(def, err)...)
		h.touch()
		h.diagnose(ctx, s, h.host.Options(def))
		return
	}
	sess, over := c.Session(), make(chan struct{})
	s.mu.Lock()
	s.conn, s.who, s.over, s.spoken = c, c.ServerName(), over, spokenBy(sess)
	s.status, s.reason = Connected, []string{whyVersion(sess, def.Protocol)}
	s.mu.Unlock()
	h.touch()
	h.wg.Go(func() { h.watchEnd(s, c, sess, over) })
	h.readLists(ctx, s, c, release)
}

// dial returns a connection to a server, which is not open yet. Its messages are in the
// timeline, and its questions are asked.
func (h *Hub) dial(s *Server, def *plan.Server) *inspect.Conn {
	o := h.host.Options(def)
	o.Violations = func([]protocol.Violation) {} // Watch has them
	o.Capabilities = chooseCapabilities(def)
	o.Answer = func(ctx context.Context, method string, params []byte) ([]byte, *protocol.RPCError) {
		return h.answer(ctx, s, method, params)
	}
	o.Watch = func() func(conn.Event) {
		add := h.Feed.follow(s.ID)
		return func(e conn.Event) {
			add(e)
			s.note(e)
		}
	}
	return inspect.New(o)
}

// diagnose examines a server that could not be connected to.
func (h *Hub) diagnose(ctx context.Context, s *Server, o inspect.Options) {
	h.host.Diagnose(ctx, o, func(l Layer) {
		s.mu.Lock()
		s.layers = append(s.layers[:len(s.layers):len(s.layers)], l)
		s.mu.Unlock()
		h.touch()
	})
}

// watchEnd notes that a session ended by itself. Over is closed when the hub ends it.
func (h *Hub) watchEnd(s *Server, c *inspect.Conn, sess *mcp.Session, over <-chan struct{}) {
	select {
	case <-sess.Done():
	case <-over:
		return
	}
	s.mu.Lock()
	if s.conn == c && s.status == Connected {
		s.status = Ended
		if err := sess.Err(); err != nil {
			s.reason = append([]string{err.Error()}, inspect.Detail(err)...)
		}
	}
	s.mu.Unlock()
	h.touch()
}

// readLists reads what a server offers. The caller holds the connection, which it gives back.
func (h *Hub) readLists(ctx context.Context, s *Server, c *inspect.Conn, release func()) {
	read, err := c.Survey(ctx)
	if err != nil {
		s.mu.Lock()
		s.unread = "the lists could not be read: " + err.Error()
		release()
		s.mu.Unlock()
		h.touch()
		return
	}
	s.mu.Lock()
	s.offer = newOffer(read)
	s.offers++
	version := s.offers
	release()
	s.mu.Unlock()
	h.touch()
	h.wg.Go(func() { h.examine(ctx, s, version, read) })
}

// examine adds the findings of `mcptest check` to the lists of a version.
func (h *Hub) examine(ctx context.Context, s *Server, version int, read *surface.Offer) {
	found := examine(ctx, read)
	s.mu.Lock()
	if s.offers == version && s.offer != nil {
		examined := *s.offer
		examined.Findings = found
		s.offer = &examined
		s.checked = version
	}
	s.mu.Unlock()
	h.touch()
}

// Refresh reads the lists of a server again.
func (h *Hub) Refresh(id int) error {
	s, err := h.Server(id)
	if err != nil {
		return err
	}
	c, ctx, err := s.take(h.ctx)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.unread = ""
	s.mu.Unlock()
	h.wg.Go(func() {
		release := s.releaseOnce()
		defer release()
		h.readLists(ctx, s, c, release)
	})
	return nil
}

// take returns the connection of a server, which the caller must release: only one request
// of a person is under way on each.
func (s *Server) take(parent context.Context) (*inspect.Conn, context.Context, error) {
	select {
	case s.use <- struct{}{}:
	default:
		return nil, nil, refuse("another request to this server is under way")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.status != Connected {
		<-s.use
		return nil, nil, refuse("the server is not connected")
	}
	ctx, cancel := context.WithCancel(parent)
	s.cancel = cancel
	return s.conn, ctx, nil
}

// Disconnect ends the session with a server, and what it is doing.
func (h *Hub) Disconnect(id int) error {
	s, err := h.Server(id)
	if err != nil {
		return err
	}
	s.mu.Lock()
	if s.cancel != nil {
		s.cancel()
	}
	s.mu.Unlock()
	h.wg.Go(func() {
		s.use <- struct{}{}
		defer func() { <-s.use }()
		s.end()
		h.touch()
	})
	return nil
}
