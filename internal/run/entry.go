package run

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"mcptest/internal/mcp"
	"mcptest/internal/plan"
	"mcptest/internal/proc"
	"mcptest/internal/result"
)

// entry is one server definition in use: its sessions and what is known of
// its tools.
type entry struct {
	r    *runner
	def  *plan.Server
	caps capabilities
	file *plan.File
	// gate is held shared by cases, and alone by exclusive ones.
	gate  sync.RWMutex
	slots []*slot
	tools *toolIndex

	mu     sync.Mutex
	next   int
	starts int
	deaf   bool // a session of it did not end when its input was closed
	busy   bool // a session of it did not come to rest when it was to be closed
	closed bool // guarded by the pool's lock
}

// slot is one session of an entry, opened when it is first needed.
type slot struct {
	entry *entry
	index int

	mu        sync.Mutex
	sess      *mcp.Session
	err       error // why it can't be opened (again)
	restarted bool
	started   time.Time
	info      result.Server
	past      []ending // sessions that ended before
}

// ending is what is reported of a session that is over.
type ending struct {
	server   result.Server
	findings []result.Finding
}

// pick chooses the slot of the next case.
func (e *entry) pick() *slot {
	if len(e.slots) == 1 {
		return e.slots[0]
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.next++
	return e.slots[e.next%len(e.slots)]
}

// session returns the slot's session, opening it when there is none. A server
// that died is started again once.
func (s *slot) session(ctx context.Context) (*mcp.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var stuck error
	if s.sess != nil && s.sess.Alive() {
		if stuck = s.sess.Stuck(ctx); stuck == nil && s.sess.Alive() {
			return s.sess, nil
		}
	}
	if s.err != nil {
		return nil, s.err
	}
	if s.sess != nil {
		if err := s.retire(ctx, stuck); err != nil {
			return nil, err
		}
	}
	if err := s.open(ctx); err != nil {
		if ctx.Err() == nil {
			s.err = err
		}
		return nil, err
	}
	return s.sess, nil
}

// retire ends a session that is dead, or stuck for the given reason, so that
// another can take its place; once, then it is an error. The caller holds the
// lock.
func (s *slot) retire(ctx context.Context, stuck error) error {
	why, verb := stuck, "hung"
	if stuck == nil {
		why, verb = s.sess.Err(), "died"
	}
	s.past = append(s.past, s.close(ctx))
	if s.restarted {
		s.err = fmt.Errorf("the server %s again after it had been restarted once: %w", verb, why)
		return s.err
	}
	s.restarted = true
	s.entry.finding(result.Finding{
		Kind: "server-restarted", Severity: "warning",
		Message: "the server " + verb + " and was restarted: " + errText(why),
	})
	return nil
}

// open starts the server and greets it. The caller holds the lock.
func (s *slot) open(ctx context.Context) error {
	e := s.entry
	s.started = time.Now()
	e.mu.Lock()
	e.starts++
	starts := e.starts
	e.mu.Unlock()
	s.info = serverRecord(e.def)
	s.info.Starts = starts
	sess, err := s.connect(ctx)
	if err != nil {
		return s.failed(explainUnreachable(e.def, e.r.w.Tokens, err))
	}
	s.sess = sess
	s.info.StartMS = ms(time.Since(s.started))
	s.info.Protocol = sess.Protocol()
	s.info.ServerInfo = infoOf(sess)
	e.r.w.Send(result.ServerUp{Server: s.info})
	for _, f := range e.findings(sess.Handshake().Violations) {
		e.r.finding(f) // no test made that exchange
	}
	e.tools.fetch(e, sess)
	return nil
}

// failed reports a server that could not be started.
func (s *slot) failed(err error) error {
	var oe *mcp.OpenError
	if errors.As(err, &oe) {
		s.info.Exit = oe.Error()
		s.info.Stderr = strings.Join(oe.StderrTail, "\n")
		for _, v := range oe.Violations {
			s.entry.finding(result.Finding{Kind: v.Kind, Severity: "warning", Message: v.Msg, Excerpt: v.Excerpt})
		}
	} else {
		s.info.Exit = err.Error()
	}
	s.entry.r.w.Send(result.ServerDown{Server: s.info})
	return err
}

func (e *entry) dial(ctx context.Context) (mcp.Transport, error) {
	o := DialOptions{
		Keeper: e.r.w.Keeper, Secret: e.r.w.Secret, Limits: e.r.w.Limits, Grace: e.r.w.Grace, Tokens: e.r.w.Tokens,
		UserAgent: e.r.w.Tool.Name + "/" + e.r.w.Tool.Version,
	}
	if e.r.w.Dial != nil {
		return e.r.w.Dial(ctx, e.def, o)
	}
	return Dial(ctx, e.def, o)
}

// Dial opens the transport of a server.
func Dial(ctx context.Context, s *plan.Server, o DialOptions) (mcp.Transport, error) {
	if s.Argv == nil {
		return dialHTTP(s, o)
	}
	spec := proc.Spec{Name: s.Name, Argv: s.Argv, Dir: s.Dir, Env: s.Env, Keeper: o.Keeper, OutputLimit: int64(o.Limits.Stderr)}
	// The process must outlive the handshake's deadline.
	return mcp.NewStdio(context.WithoutCancel(ctx), spec, mcp.StdioOptions{Limits: o.Limits, Grace: o.Grace})
}

// close ends the slot's session. The caller holds the lock.
func (s *slot) close(ctx context.Context) ending {
	sess := s.sess
	s.sess = nil
	s.entry.settle(sess)
	dead := sess.Err()
	if s.entry.hasty() {
		sess.Hasten()
	}
	stopped := sess.Close(ctx)
	end := ending{server: s.info}
	// Which session was opened first is chance; how many there were is not.
	s.entry.mu.Lock()
	end.server.Starts = s.entry.starts
	s.entry.deaf = s.entry.deaf || stopped.How == proc.ByTerm || stopped.How == proc.ByKill
	s.entry.mu.Unlock()
	if stopped.Pid != 0 {
		end.server.Exit = stopped.Exit.String()
	}
	if dead != nil {
		end.server.Exit = dead.Error()
		if t := sess.Stderr(); t != nil {
			end.server.Stderr = strings.Join(t.Ends(20), "\n")
		}
	}
	end.findings = s.entry.violations(sess)
	for _, l := range stopped.Leftovers {
		end.findings = append(end.findings, s.entry.about(result.Finding{
			Kind: "leftover-process", Severity: "warning",
			Message: fmt.Sprintf("the server left a process running: pid %d %s (ended now)", l.Pid, l.Command),
		}))
	}
	if stopped.Forced {
		end.findings = append(end.findings, s.entry.about(result.Finding{
			Kind: "forced-stop", Severity: "warning",
			Message: "the server ended neither when its input was closed nor on SIGTERM; it was killed",
		}))
	}
	return end
}

// settle waits until the end of a server that is about to end is known: before
// its input is closed, and before a test that has the session alone is over.
func (e *entry) settle(sess *mcp.Session) {
	e.mu.Lock()
	busy := e.busy
	e.mu.Unlock()
	if busy || sess.Settle(e.r.clean.run) {
		return
	}
	e.mu.Lock()
	e.busy = true
	e.mu.Unlock()
}

// hasty reports whether the server is not given the time to end by itself when
// its input is closed: after a signal, and when it did not make use of it before.
func (e *entry) hasty() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.deaf || e.r.clean.run.Err() != nil
}

// recycle ends the slot's session; the next one is opened as the first was.
func (s *slot) recycle(ctx context.Context) []ending {
	s.mu.Lock()
	defer s.mu.Unlock()
	ends := s.past
	s.past = nil
	if s.sess != nil {
		ends = append(ends, s.close(ctx))
	}
	s.err, s.restarted = nil, false
	return ends
}

// violations are those of a session that belong to no call.
func (e *entry) violations(sess *mcp.Session) []result.Finding {
	return e.findings(sess.TakeViolations())
}

// sessionLost reports that a server over HTTP forgot its session, and what
// became of it: other tests than the one that noticed may depend on it.
func (e *entry) sessionLost(x *mcp.Exchange) {
	var lost *mcp.SessionLostError
	if errors.As(x.Cause, &lost) {
		e.finding(result.Finding{Kind: "session-lost", Severity: "warning", Message: lost.Error()})
	}
}

// findings are violations as facts about the run.
func (e *entry) findings(list []mcp.Violation) []result.Finding {
	var out []result.Finding
	for _, v := range list {
		f := e.about(result.Finding{Kind: v.Kind, Severity: "error", Message: v.Msg, Excerpt: v.Excerpt})
		if v.Tolerated || e.def.Tolerate[v.Kind] {
			f.Severity = "warning"
		} else {
			f.Message += acceptance(v.Kind)
		}
		out = append(out, f)
	}
	return out
}

// acceptance ends the message about a violation with what accepts it.
func acceptance(kind string) string {
	if kind == mcp.ServerCrashed {
		return "" // that is to be repaired
	}
	return "; to accept it for now: tolerate: [" + kind + "]"
}

// close ends every session of the entry.
func (e *entry) close(ctx context.Context) []ending {
	e.tools.stop()
	var out []ending
	for _, s := range e.slots {
		s.mu.Lock()
		out = append(out, s.past...)
		if s.sess != nil {
			out = append(out, s.close(ctx))
		}
		s.past, s.err = nil, errors.New("the run is over")
		s.mu.Unlock()
	}
	<-e.tools.done
	return out
}

func serverRecord(s *plan.Server) result.Server {
	out := result.Server{Name: s.Name, File: s.Pos.File.Name, Transport: "stdio", Target: strings.Join(s.Argv, " ")}
	if s.URL != "" {
		out.Transport, out.Target = "streamable-http", s.URL
		if s.Transport == "sse" {
			out.Transport = "sse"
		}
		out.Insecure = s.TLS != nil && s.TLS.Insecure
	}
	out.Tolerated = append(out.Tolerated, sortedKeys(s.Tolerate)...)
	return out
}

func infoOf(sess *mcp.Session) *result.Info {
	info := sess.ServerInfo().Lookup("serverInfo")
	if sess.Era() == mcp.EraRequests {
		info = sess.ServerInfo().Lookup("_meta", "io.modelcontextprotocol/serverInfo")
	}
	if info.Lookup("name").IsAbsent() {
		return nil
	}
	return &result.Info{Name: info.Lookup("name").Text(), Version: info.Lookup("version").Text()}
}

func errText(err error) string {
	if err == nil {
		return "no reason is known"
	}
	return err.Error()
}
