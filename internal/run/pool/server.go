package pool

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/process/proc"
	"mcptest/internal/report/result"
	"mcptest/internal/run/connect"
	"mcptest/internal/run/doubles"
	"mcptest/internal/run/respond"
	"mcptest/internal/spec/plan"
)

// Server is a server definition in use, with its sessions and its list of tools.
type Server struct {
	Def *plan.Server

	pool *Pool
	caps respond.Capabilities
	file *plan.File // of first use
	gate gate
	// doubles of its upstreams; if apart is set, other servers use them too.
	doubles *doubles.Group
	apart   *gate
	slots   []*Slot
	calls   atomic.Int64 // that have ended
	closed  bool         // guarded by the pool's lock

	mu    sync.Mutex
	state state
}

// state is what is known from the sessions of a server.
type state struct {
	next        int  // the slot of the next case
	starts      int  // how often it was started
	restarts    int  // of them because it had died or hung
	ignoresEOF  bool // a session did not end after its input was closed
	alwaysBusy  bool // a session was not idle when it should have been closed
	uncleanEnds int  // sessions whose process did not end as it should
	stateful    bool // a case may have left state in the session
	tools       *Tools
	offers      map[*mcp.Session]*offered
	users       map[*mcp.Session]string // the last test of each session
	lists       map[string]*list        // of prompts and resources, as first read
	silent      []string                // lists that were not answered in time
}

// getState returns a copy of the state.
func (s *Server) getState() state { return s.update(func(*state) {}) }

// update changes the state and returns a copy of it. It is the only access to the state.
func (s *Server) update(fn func(*state)) state {
	s.mu.Lock()
	defer s.mu.Unlock()
	fn(&s.state)
	return s.state
}

// Doubles returns the doubles of the server's upstreams.
func (s *Server) Doubles() *doubles.Group { return s.doubles }

// First returns the first slot: the one that fixture steps call.
func (s *Server) First() *Slot { return s.slots[0] }

// Next returns the slot of the next case, in rotation.
func (s *Server) Next() *Slot {
	st := s.update(func(st *state) { st.next++ })
	return s.slots[st.next%len(s.slots)]
}

// AwaitIdle waits until a session is idle, so that the exit of a server that is about
// to exit is noticed before its input is closed and before an exclusive test ends.
func (s *Server) AwaitIdle(sess *mcp.Session) {
	if s.getState().alwaysBusy || sess.AwaitIdle(s.pool.run) {
		return
	}
	s.update(func(st *state) { st.alwaysBusy = true })
}

// skipGrace reports whether to end the server without a grace period after closing
// its input: after a signal, and if it ignored the end of its input before in this
// run. What an earlier run knows ends the wait only if no verdict depends on it.
func (s *Server) skipGrace() bool {
	return s.getState().ignoresEOF || s.pool.run.Err() != nil || s.hasIgnoredEOF()
}

func (s *Server) hasIgnoredEOF() bool {
	return !s.Def.StrictExit && s.pool.deps.Opener.Eras.IgnoresEOF(s.Def)
}

// findUncleanEnd returns a note about a process that did not end as it should: the first of
// the server. With strict_exit it fails the run.
func (s *Server) findUncleanEnd(end proc.Stopped) []result.Finding {
	if s.hasIgnoredEOF() && end.How > proc.ByEOF {
		end.Took += connect.Patience
	}
	why := connect.DescribeUncleanEnd(end)
	interrupted := s.pool.run.Err() != nil && len(end.Leftovers) == 0
	if why == "" || interrupted || s.update(func(st *state) { st.uncleanEnds++ }).uncleanEnds > 1 {
		return nil
	}
	f := s.addServer(result.Finding{Kind: result.UncleanEnd, Severity: "info", Message: why})
	if s.Def.StrictExit {
		f.Severity = "error"
	}
	return []result.Finding{f}
}

// noteStopped records how a session ended and returns how often the server was started.
func (s *Server) noteStopped(end proc.Stopped) (starts int) {
	ignored := end.How == proc.ByTerm || end.How == proc.ByKill
	if end.How == proc.ByEOF || connect.IgnoredEOF(end) {
		s.pool.deps.Opener.Eras.NoteEnd(s.Def, ignored)
	}
	return s.update(func(st *state) { st.ignoresEOF = st.ignoresEOF || ignored }).starts
}

// close ends every session of the server.
func (s *Server) close(ctx context.Context) []ending {
	s.Tools().stop()
	var out []ending
	for _, slot := range s.slots {
		out = append(out, slot.end(ctx, errClosed)...)
	}
	t := s.Tools()
	<-t.done
	t.warn(s, &t.listed)
	if s.apart == nil {
		s.doubles.Close()
	}
	return out
}

// ReportViolations reports the violations of a session that belong to no call.
func (s *Server) ReportViolations(sess *mcp.Session) { s.reportAll(s.findingsOf(sess)) }

// Use records that a test uses a session, and returns the one that used it before; "" if
// none or the same did.
func (s *Server) Use(sess *mcp.Session, test string) (before string) {
	s.update(func(st *state) {
		before = st.users[sess]
		st.users[sess] = test
	})
	if before == test {
		return ""
	}
	return before
}

// forget drops what is known of a session that ends.
func (s *Server) forget(sess *mcp.Session) {
	s.update(func(st *state) {
		delete(st.offers, sess)
		delete(st.users, sess)
	})
}

// findingsOf takes the violations of a session and returns them as findings about the run. A
// crash names the last test of the session, which may have provoked it.
func (s *Server) findingsOf(sess *mcp.Session) []result.Finding {
	last := ""
	s.update(func(st *state) { last = st.users[sess] })
	out := s.Findings(sess.TakeViolations())
	for i := range out {
		if out[i].Kind == protocol.ServerCrashed && last != "" {
			out[i].Message += "; the last test that used it: " + last
		}
	}
	return out
}

// report reports violations that no test caused.
func (s *Server) report(list []protocol.Violation) { s.reportAll(s.Findings(list)) }

func (s *Server) reportAll(list []result.Finding) {
	for _, f := range list {
		s.pool.deps.Report(f)
	}
}

// ReportLost records a failed exchange. If an HTTP server has lost its session,
// ReportLost reports that, because it may affect other tests.
func (s *Server) ReportLost(x *mcp.Exchange) {
	if x.Cause != nil { // the response may still arrive
		s.update(func(st *state) { st.stateful = true })
	}
	if lost, ok := errors.AsType[*wire.SessionLostError](x.Cause); ok {
		s.warn("session-lost", lost.Error())
	}
}

// warn reports a warning about the server.
func (s *Server) warn(kind, msg string) {
	s.pool.deps.Report(s.addServer(result.Finding{Kind: kind, Severity: "warning", Message: msg}))
}

// addServer adds the server and its position in the suite to a finding.
func (s *Server) addServer(f result.Finding) result.Finding {
	f.Server, f.File, f.Line = s.Def.Name, s.Def.Pos.File.Name, s.Def.Pos.Line
	return f
}

// Findings converts violations to findings about the run.
func (s *Server) Findings(list []protocol.Violation) []result.Finding {
	var out []result.Finding
	for _, v := range list {
		f := s.addServer(result.Finding{Kind: v.Kind, Severity: "error", Message: v.Msg, Excerpt: v.Excerpt})
		if s.Tolerates(v) {
			f.Severity = "warning"
		} else {
			f.Message += Acceptance(v.Kind)
		}
		out = append(out, f)
	}
	return out
}

// Tolerates reports whether the suite tolerates a violation.
func (s *Server) Tolerates(v protocol.Violation) bool { return v.Tolerated || s.Def.Tolerate[v.Kind] }

// Acceptance returns the end of a violation's message, which explains how to
// tolerate it.
func Acceptance(kind string) string {
	if kind == protocol.ServerCrashed {
		return "" // cannot be tolerated
	}
	return "; to accept it for now: tolerate: [" + kind + "]"
}

// record returns the record of the server for reports.
func (s *Server) record(starts int) result.Server {
	d := s.Def
	out := result.Server{
		Name:      d.Name,
		File:      d.Pos.File.Name,
		Transport: "stdio",
		Target:    strings.Join(d.Written(), " "),
		Starts:    starts,
	}
	if d.URL != "" {
		out.Transport, out.Target = "streamable-http", d.URL
		if d.Transport == "sse" {
			out.Transport = "sse"
		}
		out.Insecure = d.TLS != nil && d.TLS.Insecure
	}
	out.Tolerated = append(out.Tolerated, sortedKeys(d.Tolerate)...)
	return out
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
