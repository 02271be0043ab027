package mock

import (
	"context"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/server/manifest"
	"mcptest/internal/server/mcpserver"
)

// Options configure a Server in addition to its manifest.
type Options struct {
	Fault  manifest.Fault // replaces the manifest's unless it is the zero value
	Stderr io.Writer      // for stderr steps; nil discards them
}

// Server serves a manifest. Its sessions share the state, the call counts and
// the sequences.
type Server struct {
	m     *manifest.Manifest
	fault manifest.Fault
	world *world
	began time.Time
	tasks tasks

	ctx  context.Context // of the tasks
	stop context.CancelFunc
	wg   sync.WaitGroup // of the tasks

	mu     sync.Mutex // guards stderr
	stderr io.Writer

	wedged atomic.Bool // by the fault of that name: no more requests are answered

	exitOnce sync.Once
	exited   chan struct{} // closed by an exit step
	exitCode int           // valid once exited is closed
}

// New returns a server.
func New(m *manifest.Manifest, o Options) *Server {
	s := &Server{
		m:      m,
		fault:  o.Fault,
		world:  newWorld(m.State),
		began:  time.Now(),
		stderr: o.Stderr,
		exited: make(chan struct{}),
	}
	if s.fault == (manifest.Fault{}) {
		s.fault = m.Fault
	}
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s
}

// Close ends the tasks that are still running.
func (s *Server) Close() {
	s.stop()
	s.wg.Wait()
}

// Exited returns a channel that is closed when a response ends the process; ExitCode
// is valid then.
func (s *Server) Exited() <-chan struct{} { return s.exited }

// ExitCode returns the code of the exit step that closed [Server.Exited].
func (s *Server) ExitCode() int { return s.exitCode }

func (s *Server) exit(code int) {
	s.exitOnce.Do(func() {
		s.exitCode = code
		close(s.exited)
	})
}

func (s *Server) logLine(text string) {
	if s.stderr == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = io.WriteString(s.stderr, text+"\n")
}

// Session is the state of a server for one client: an [mcpserver.Handler] for one
// connection.
type Session struct {
	server *Server

	timers   []*time.Timer // of announcements
	gone     chan struct{} // closed when the client hung up
	goneOnce sync.Once

	mu         sync.Mutex
	protocol   string
	client     jsonv.Value // params of initialize
	level      int         // index in logLevels; messages below are not sent
	subscribed map[string]bool
}

// Session returns the handler for one new connection.
func (s *Server) Session() *Session {
	return &Session{server: s, gone: make(chan struct{}), subscribed: map[string]bool{}}
}

// HangUp notifies the session that its client will send nothing more. Pending responses
// that would never arrive are abandoned, so that the connection can end.
func (s *Session) HangUp() {
	s.goneOnce.Do(func() {
		close(s.gone)
		for _, t := range s.timers {
			t.Stop()
		}
	})
}

// Versions returns the protocol versions that the manifest supports, newest first.
func (s *Session) Versions() []string { return slices.Clone(s.server.m.Protocols) }

// InputSchema returns the input schema of a tool, or an absent value when there is
// none.
func (s *Session) InputSchema(name string) jsonv.Value {
	t := s.server.tool(name)
	if t == nil {
		return jsonv.Value{}
	}
	return t.Listed.Lookup("inputSchema")
}

var (
	_ mcpserver.VersionedHandler = (*Session)(nil)
	_ mcpserver.SchemaProvider   = (*Session)(nil)
	_ mcpserver.RequestFilter    = (*Session)(nil)
	_ mcpserver.Announcer        = (*Session)(nil)
)

// ServeStdio serves one client over in and out until in ends, ctx is done or a
// response ends the process. It returns the exit code for the process. After an exit
// step a read of in may still be blocked: the process is expected to end.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) (exitCode int, err error) {
	sess := s.Session()
	defer s.Close()
	if s.m.Banner != nil {
		_, err := out.Write(s.m.Banner.Bytes((&scope{sess: sess, req: &mcpserver.Request{}}).root))
		if err != nil {
			return 1, err
		}
	}
	done := make(chan error, 1)
	go func() { done <- mcpserver.ServeStdio(ctx, hangUpReader{in, sess}, out, sess) }()
	select {
	case err = <-done:
	case <-s.exited:
		return s.exitCode, nil
	case <-ctx.Done(): // a read may block forever
		return 0, nil
	}
	select {
	case <-s.exited: // by the last request, while the input ended
		return s.exitCode, nil
	default:
	}
	if err == nil && s.wedged.Load() {
		select {
		case <-ctx.Done():
		case <-s.exited:
		}
	}
	if err != nil && ctx.Err() == nil {
		return 1, err
	}
	return 0, nil
}

// hangUpReader notifies the session when its client's input ends.
type hangUpReader struct {
	io.Reader
	sess *Session
}

func (r hangUpReader) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	if err != nil {
		r.sess.HangUp()
	}
	return n, err
}
