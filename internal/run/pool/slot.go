package pool

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/process/proc"
	"mcptest/internal/report/result"
	"mcptest/internal/run/connect"
)

// Slot is one session of a server, opened on first use.
type Slot struct {
	server *Server

	gate     gate // held while the session is opened and closed
	sess     *mcp.Session
	err      error // why it can't be opened (again)
	replaced bool  // a restart has replaced a session that died or hung
	lost     bool  // the server ended while it was restarted
	kept     bool  // the session is from an earlier run
	hidden   bool  // reports don't show what the server of the session wrote
	info     result.Server
	past     []ending // sessions that have ended
}

// ending is the record of a session that has ended.
type ending struct {
	server   result.Server
	findings []result.Finding
}

var errClosed = errors.New("the run is over")

// Session returns the slot's session and opens it if necessary. A server that has
// died or hangs is restarted, up to a limit.
func (s *Slot) Session(ctx context.Context) (*mcp.Session, error) {
	s.gate.acquire(true)
	defer s.gate.release(true)
	var stuck error
	if s.sess != nil && s.sess.Alive() {
		if stuck = s.sess.CheckAlive(ctx); stuck == nil && s.sess.Alive() {
			return s.sess, nil
		}
	}
	if s.err != nil {
		return nil, s.err
	}
	if s.sess != nil || s.lost {
		if err := s.prepareRestart(ctx, stuck); err != nil {
			return nil, err
		}
	}
	if err := s.open(ctx); err != nil {
		s.lost = s.replaced && errors.As(err, new(*wire.ClosedError))
		if ctx.Err() == nil && !s.lost {
			s.err = err
		}
		return nil, err
	}
	return s.sess, nil
}

// WasRestarted reports whether the session replaced one that died or hung.
func (s *Slot) WasRestarted() bool {
	s.gate.acquire(true)
	defer s.gate.release(true)
	return s.replaced
}

// WasKept reports whether the session was kept from an earlier run.
func (s *Slot) WasKept() bool {
	s.gate.acquire(true)
	defer s.gate.release(true)
	return s.kept
}

// maxRestarts is how often a server is started again after it died or hung.
const maxRestarts = 10

// The pause before a restart doubles from one to the next.
const (
	firstPause = 100 * time.Millisecond
	maxPause   = 5 * time.Second
)

// pauseBefore returns the pause before the n-th restart.
func pauseBefore(n int) time.Duration {
	return min(firstPause<<(n-1), maxPause)
}

// prepareRestart ends a session that is dead, or stuck for the given reason, so that
// another one can replace it, and waits for the pause. It returns an error if the server
// was restarted too often. The caller holds the gate.
func (s *Slot) prepareRestart(ctx context.Context, stuck error) error {
	what, why := s.retire(ctx, stuck)
	n := s.server.update(func(st *state) { st.restarts++ }).restarts
	if n > maxRestarts {
		s.err = fmt.Errorf("it died or hung %d times and is not restarted again (limit: %d restarts); "+
			"run_options: {restart_policy: per_test} gives each test a process of its own", n, maxRestarts)
		return s.err
	}
	again := ""
	if n > 1 {
		again = fmt.Sprintf(" (restart %d of at most %d)", n, maxRestarts)
	}
	s.replaced = true
	defer s.server.pool.deps.Clock.Begin(Starting)()
	s.server.warn("server-restarted", what+" and was restarted"+again+": "+why)
	select {
	case <-time.After(pauseBefore(n)):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// retire ends the session, if there is one, and says what became of the server and why.
// What the process wrote belongs to the test that ended it. The caller holds the gate.
func (s *Slot) retire(ctx context.Context, stuck error) (what, why string) {
	if s.sess == nil {
		return "the server ended again", "it had not completed the handshake"
	}
	what, reason := "the server hung", stuck
	if stuck == nil {
		what, reason = "the server died", dropOutput(s.sess.Err())
	}
	s.past = append(s.past, s.close(ctx))
	if reason == nil {
		return what, "no reason is known"
	}
	return what, reason.Error()
}

// open starts the server and performs the handshake. The caller holds the gate.
func (s *Slot) open(ctx context.Context) error {
	sv := s.server
	deps, began := &sv.pool.deps, time.Now()
	defer deps.Clock.Begin(Starting)()
	s.info = sv.record(sv.update(func(st *state) { st.starts++ }).starts)
	s.kept = false
	if s.sess = deps.Warm.take(sv); s.sess != nil {
		s.kept = true
		s.info.Protocol, s.info.ServerInfo = s.sess.Protocol(), readServerInfo(s.sess)
		deps.Send(result.ServerUp{Server: s.info})
		sv.listTools(s.sess)
		return nil
	}
	def, done, err := sv.doubles.Prepare(sv.Def)
	defer done()
	if err != nil {
		return s.reportFailure(err)
	}
	sess, err := deps.Opener.Open(ctx, def, sv.caps.JSON())
	if err != nil {
		return s.reportFailure(connect.Explain(sv.Def, deps.Opener.Options.Tokens, err))
	}
	if died := sess.Restarted(); died != nil {
		sv.warn("server-restarted", connect.ExplainSecondStart(died, sess.Protocol()))
	}
	s.sess = sess
	s.info.StartMS = float64(time.Since(began).Microseconds()) / 1000
	s.info.Protocol = sess.Protocol()
	s.info.ServerInfo = readServerInfo(sess)
	s.info.Detection = sess.Detection()
	deps.Send(result.ServerUp{Server: s.info})
	sv.report(sess.Handshake().Violations)
	for _, fault := range sess.HandshakeWarnings() {
		sv.warn("handshake", fault)
	}
	sv.listTools(sess)
	return nil
}

// reportFailure reports that the server could not be started.
func (s *Slot) reportFailure(err error) error {
	s.info.Exit = err.Error()
	if oe, ok := errors.AsType[*wire.OpenError](err); ok {
		s.info.Exit = oe.Error()
		s.info.Stderr = strings.Join(oe.StderrTail, "\n")
		for _, v := range oe.Violations {
			s.server.pool.deps.Report(s.server.addServer(result.Finding{
				Kind:     v.Kind,
				Severity: "warning",
				Message:  v.Msg,
				Excerpt:  v.Excerpt,
			}))
		}
	}
	s.server.pool.deps.Send(result.ServerDown{Server: s.info})
	return err
}

// close ends the slot's session. The caller holds the gate.
func (s *Slot) close(ctx context.Context) ending {
	sess, sv := s.sess, s.server
	defer sv.pool.deps.Clock.Begin(Ending)()
	s.sess = nil
	sv.AwaitIdle(sess)
	written := sess.Err()
	dead := s.showError(written)
	if sv.skipGrace() {
		sess.SkipGrace()
	}
	stopped := sess.Close(ctx)
	end := ending{server: s.info}
	// The order of sessions is not deterministic, but the count is.
	end.server.Starts = sv.noteStopped(stopped)
	if sess.Stderr() != nil { // a process, or the recording of one
		end.server.Exit = stopped.Exit.String()
	}
	if dead != nil {
		end.server.Exit = dead.Error()
		if t := sess.Stderr(); t != nil && !s.hidden {
			end.server.Stderr = strings.Join(t.Ends(20), "\n")
		}
	}
	end.findings = sv.findingsOf(sess)
	sv.forget(sess)
	for i := range end.findings {
		if s.hidden {
			f := &end.findings[i]
			f.Message, f.Excerpt = strings.ReplaceAll(f.Message, written.Error(), dead.Error()), ""
		}
	}
	s.hidden = false
	if written != nil {
		stopped.Exit = proc.Exit{} // it ended earlier, and that was reported
	}
	end.findings = append(end.findings, sv.findUncleanEnd(stopped)...)
	return end
}

// Hide keeps what the server wrote out of reports, if its session has ended: a step's
// capture_failure replaces it.
func (s *Slot) Hide() {
	s.gate.acquire(true)
	defer s.gate.release(true)
	s.hidden = s.sess != nil && s.sess.Err() != nil
}

// showError returns the reason why a session ended as reports show it.
func (s *Slot) showError(err error) error {
	if !s.hidden {
		return err
	}
	return dropOutput(err)
}

// dropOutput returns the reason why a session ended without what the server wrote.
func dropOutput(err error) error {
	closed, ok := errors.AsType[*wire.ClosedError](err)
	if !ok {
		return err
	}
	bare := *closed
	bare.Stderr, bare.LastLine, bare.Log = nil, "", nil
	return &bare
}

// end ends the slot's session. The next call of Session opens a new one, or returns
// err if it is not nil.
func (s *Slot) end(ctx context.Context, err error) []ending {
	s.gate.acquire(true)
	defer s.gate.release(true)
	ends := s.past
	switch {
	case s.sess == nil:
	case err == errClosed && s.isReusable(ctx):
		ends = append(ends, s.keepWarm())
	default:
		ends = append(ends, s.close(ctx))
	}
	s.past, s.err, s.replaced, s.lost = nil, err, false, false
	return ends
}

// readServerInfo returns the name and version of a server; nil if it sent none.
func readServerInfo(sess *mcp.Session) *result.Info {
	info := sess.ServerInfo().Lookup("serverInfo")
	if sess.Era() == protocol.EraStateless {
		info = sess.ServerInfo().Lookup("_meta", "io.modelcontextprotocol/serverInfo")
	}
	if info.Lookup("name").IsAbsent() {
		return nil
	}
	return &result.Info{Name: info.Lookup("name").Text(), Version: info.Lookup("version").Text()}
}

// isReusable reports whether the next run may use the session. The caller holds the
// gate.
func (s *Slot) isReusable(ctx context.Context) bool {
	sv := s.server
	st := sv.getState()
	if !sv.pool.deps.Warm.keeps(sv) || sv.pool.run.Err() != nil {
		return false
	}
	if s.replaced || st.stateful || st.alwaysBusy {
		return false
	}
	return s.sess.AwaitIdle(ctx) && s.sess.Alive() && s.sess.CheckAlive(ctx) == nil
}

// keepWarm keeps the session for the next run. The caller holds the gate.
func (s *Slot) keepWarm() ending {
	sess, sv := s.sess, s.server
	s.sess = nil
	end := ending{server: s.info, findings: sv.findingsOf(sess)}
	sv.forget(sess)
	end.server.Starts = sv.getState().starts
	sv.pool.deps.Warm.put(sv, sess)
	return end
}
