package live

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/conn"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/offer/compat"
	"mcptest/internal/offer/surface"
	"mcptest/internal/run/allow"
	"mcptest/internal/run/inspect"
	"mcptest/internal/spec/plan"
)

// Hub holds the servers of a page, their sessions and calls. It is safe for concurrent use.
type Hub struct {
	Feed *Feed
	host Host
	ctx  context.Context // of everything that the hub does
	stop context.CancelFunc
	wg   sync.WaitGroup
	asks asks

	mu       sync.Mutex
	servers  []*Server
	problem  string
	calls    []*Call
	lastCall int
	pending  map[string]string // confirmations, and the calls that they are for
	changed  chan struct{}     // nil: there is no reader that waits
}

// RefusedError says why a person's wish is not carried out.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return e.Reason }

func refuse(format string, args ...any) error {
	return &RefusedError{fmt.Sprintf(format, args...)}
}

// Confirmation is what a person must confirm before a tool is called that does not declare
// to be read-only. Token is good for this one call.
type Confirmation struct {
	Token string
	Why   string
}

// New returns a hub with the servers of a host. Nothing is started.
func New(ctx context.Context, host Host) *Hub {
	h := &Hub{Feed: NewFeed(), host: host, pending: map[string]string{}}
	h.ctx, h.stop = context.WithCancel(ctx)
	h.Reload()
	return h
}

// Reload reads the definitions of the servers again. Sessions that are open stay.
func (h *Hub) Reload() {
	list, problem := h.host.Servers()
	h.mu.Lock()
	h.problem = problem
	for _, def := range list {
		h.define(def)
	}
	h.mu.Unlock()
	h.touch()
}

// define adds a server, or changes its definition. The caller holds the lock.
func (h *Hub) define(def *plan.Server) {
	for _, s := range h.servers {
		s.mu.Lock()
		same := s.def.Name == def.Name && s.def.Pos.File.Path == def.Pos.File.Path
		if same {
			s.def = def
		}
		s.mu.Unlock()
		if same {
			return
		}
	}
	s := &Server{ID: len(h.servers), def: def, status: Off, use: make(chan struct{}, 1)}
	h.servers = append(h.servers, s)
}

// touch wakes those who follow the state.
func (h *Hub) touch() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.changed != nil {
		close(h.changed)
		h.changed = nil
	}
}

// Changed returns a channel that is closed at the next change of a server, call or request.
func (h *Hub) Changed() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.changed == nil {
		h.changed = make(chan struct{})
	}
	return h.changed
}

// Servers returns the servers, and what is wrong with the suite.
func (h *Hub) Servers() (list []View, problem string) {
	h.mu.Lock()
	servers, problem := append([]*Server(nil), h.servers...), h.problem
	h.mu.Unlock()
	for _, s := range servers {
		list = append(list, s.View())
	}
	return list, problem
}

// Server returns a server by its number.
func (h *Hub) Server(id int) (*Server, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if id < 0 || id >= len(h.servers) {
		return nil, refuse("there is no server with this number")
	}
	return h.servers[id], nil
}

// Asks returns the requests of servers that wait for a person.
func (h *Hub) Asks() []Ask { return h.asks.list() }

// Calls returns the calls, the oldest first.
func (h *Hub) Calls() []Call {
	h.mu.Lock()
	list := append([]*Call(nil), h.calls...)
	h.mu.Unlock()
	out := make([]Call, 0, len(list))
	for _, c := range list {
		out = append(out, c.snapshot())
	}
	return out
}

// Call returns a call by its number.
func (h *Hub) Call(id int) (Call, error) {
	h.mu.Lock()
	var found *Call
	for _, c := range h.calls {
		if c.ID == id {
			found = c
		}
	}
	h.mu.Unlock()
	if found == nil {
		return Call{}, refuse("there is no call with this number")
	}
	return found.snapshot(), nil
}

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
		defer func() { <-s.use }()
		h.open(ctx, s, &def)
		h.touch()
	})
	return nil
}

// open opens a session, or finds out why that is not possible.
func (h *Hub) open(ctx context.Context, s *Server, def *plan.Server) {
	o := h.host.Options(def)
	o.Violations = func([]protocol.Violation) {} // Watch has them
	o.Capabilities = declared(def)
	o.Answer = func(ctx context.Context, method string, params []byte) ([]byte, *protocol.RPCError) {
		return h.answer(ctx, s, method, params)
	}
	o.Watch = func() func(conn.Event) {
		add := h.Feed.follow(s.ID)
		return func(e conn.Event) {
			add(e)
			s.noted(e)
		}
	}
	c := inspect.New(o)
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
	s.mu.Lock()
	over := make(chan struct{})
	s.conn, s.who, s.over = c, c.ServerName(), over
	s.status, s.reason = Connected, []string{whyVersion(c.Session(), def.Protocol)}
	s.mu.Unlock()
	h.touch()
	h.wg.Go(func() { h.watchEnd(s, c, c.Session(), over) })
	h.readLists(ctx, s, c)
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

// readLists reads what a server offers. The caller holds the connection.
func (h *Hub) readLists(ctx context.Context, s *Server, c *inspect.Conn) {
	read, err := c.Survey(ctx)
	if err != nil {
		s.mu.Lock()
		s.reason = append(s.reason, "the lists could not be read: "+err.Error())
		s.mu.Unlock()
		h.touch()
		return
	}
	s.mu.Lock()
	s.offer = newOffer(read)
	s.offers++
	version := s.offers
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
	h.wg.Go(func() {
		defer func() { <-s.use }()
		h.readLists(ctx, s, c)
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

// end closes the connection. The caller holds it.
func (s *Server) end() {
	s.mu.Lock()
	c, over := s.conn, s.over
	s.conn, s.status, s.reason, s.offer, s.layers = nil, Off, nil, nil, nil
	s.mu.Unlock()
	if c != nil {
		close(over)
		c.Close()
	}
}

// Send makes a call. A tool that does not declare readOnlyHint: true is not called without
// the confirmation of this call: then Send returns what is to be confirmed, and no call.
func (h *Hub) Send(w Wanted) (id int, confirm *Confirmation, err error) {
	s, err := h.Server(w.Server)
	if err != nil {
		return 0, nil, err
	}
	now := s.View()
	if now.Status != Connected {
		return 0, nil, refuse("the server is not connected")
	}
	tool := jsonv.Value{}
	if w.Kind == CallTool {
		tool = now.Offer.tool(w.Name)
		if !allow.ReadOnly(tool) && !h.confirmed(w) {
			return 0, h.toConfirm(w, tool), nil
		}
	}
	c, ctx, err := s.take(h.ctx)
	if err != nil {
		return 0, nil, err
	}
	limited, cancel := context.WithCancelCause(ctx)
	call := &Call{
		mu: &s.mu, Def: c.Server(), Chosen: now.Version, Wanted: w, Tool: tool, Start: time.Now(), cancel: cancel,
	}
	h.mu.Lock()
	h.lastCall++
	call.ID = h.lastCall
	h.calls = append(h.calls, call)
	h.mu.Unlock()
	s.mu.Lock()
	s.running = call
	s.mu.Unlock()
	h.touch()
	h.wg.Go(func() {
		defer func() { <-s.use }()
		defer cancel(nil)
		h.make(limited, s, c, call)
		h.touch()
	})
	return call.ID, nil, nil
}

// toConfirm remembers a call that a person is asked about.
func (h *Hub) toConfirm(w Wanted, tool jsonv.Value) *Confirmation {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.pending) > 100 {
		clear(h.pending)
	}
	token := rand.Text()
	h.pending[token] = fmt.Sprint(w.Server) + w.key()
	why := "tool " + w.Name + " is not in the list of the server"
	if !tool.IsAbsent() {
		why = "tool " + w.Name + " " + allow.Objection(tool)
	}
	return &Confirmation{Token: token, Why: why}
}

// confirmed reports whether a call was confirmed, and uses the confirmation up.
func (h *Hub) confirmed(w Wanted) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	key, ok := h.pending[w.Confirm]
	delete(h.pending, w.Confirm)
	return ok && key == fmt.Sprint(w.Server)+w.key()
}

// make makes a call and completes its record.
func (h *Hub) make(ctx context.Context, s *Server, c *inspect.Conn, call *Call) {
	method, params := call.Wanted.request()
	stop := h.limit(s, call, c.Server().Timeout)
	x := c.DoFor(ctx, method, params)
	stop()
	var warnings []string
	if method == "tools/call" && x.Response != nil {
		warnings = c.CheckCallOf(h.ctx, call.Wanted.Name, call.Tool, call.Wanted.Args, x)
	}
	result, _ := jsonv.Parse(x.Result) // absent if there is none
	var findings []compat.Finding
	if len(x.Result) < examinedResult {
		findings = ofResult(h.ctx, call.Tool, result)
	}
	s.mu.Lock()
	call.Exchange, call.Warnings, call.Result, call.Findings, call.Done = x, warnings, result, findings, true
	if err := inspect.ExchangeError(x); x.Cause != nil {
		call.Cause, call.Detail = err.Error(), inspect.Detail(err)
	}
	s.running = nil
	s.mu.Unlock()
	h.mu.Lock()
	h.calls = forget(h.calls)
	h.mu.Unlock()
}

// limit ends a call after the time limit of its server. Time in which a request of the
// server waits for a person does not count.
func (h *Hub) limit(s *Server, call *Call, most time.Duration) (stop func()) {
	const step = 100 * time.Millisecond
	tick, done := time.NewTicker(step), make(chan struct{})
	h.wg.Go(func() {
		defer tick.Stop()
		for left := most; most > 0 && left > 0; {
			select {
			case <-tick.C:
				if !h.asks.of(s.ID) {
					left -= step
				}
			case <-done:
				return
			}
		}
		if most > 0 {
			call.cancel(&mcp.Limit{Name: "timeout", For: most})
		}
	})
	return func() { close(done) }
}

// errCancelled is why a call ended that a person canceled.
var errCancelled = errors.New("canceled in the page")

// Cancel cancels a call that is running.
func (h *Hub) Cancel(id int) error {
	c, err := h.Call(id)
	if err != nil {
		return err
	}
	if c.Done {
		return refuse("the call has ended")
	}
	c.cancel(errCancelled)
	return nil
}

// answer waits until a person answers a request of a server.
func (h *Hub) answer(ctx context.Context, s *Server, method string, params []byte) ([]byte, *protocol.RPCError) {
	if !askable(method) {
		return nil, nil
	}
	v, _ := jsonv.Parse(params) // absent: there are none
	one := &Ask{Server: s.ID, Method: method, Params: v}
	s.mu.Lock()
	if s.running != nil {
		one.Call = s.running.ID
	}
	s.mu.Unlock()
	return h.asks.wait(ctx, one, h.touch)
}

// Answer answers a request of a server with a result, or refuses it if that is absent.
func (h *Hub) Answer(id int, result jsonv.Value) error {
	one := h.asks.take(id)
	if one == nil {
		return refuse("the server no longer waits for this answer")
	}
	if result.IsAbsent() {
		one.reply <- reply{err: &protocol.RPCError{Code: -1, Message: "User rejected the request"}}
	} else {
		one.reply <- reply{result: result.Append(nil)}
	}
	h.touch()
	return nil
}

// Close ends every call and session.
func (h *Hub) Close() {
	h.stop()
	h.mu.Lock()
	servers := h.servers
	h.mu.Unlock()
	var wg sync.WaitGroup
	for _, s := range servers {
		wg.Go(func() {
			s.use <- struct{}{}
			s.end()
		})
	}
	wg.Wait()
	h.wg.Wait()
}
