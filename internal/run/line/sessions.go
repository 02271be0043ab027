package line

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"mcptest/internal/client/mcp"
	"mcptest/internal/client/wire"
	"mcptest/internal/process/proc"
	"mcptest/internal/process/tail"
	"mcptest/internal/report/result"
	"mcptest/internal/run/connect"
	"mcptest/internal/run/fixture"
	"mcptest/internal/run/pool"
	"mcptest/internal/spec/plan"
)

// sessions are the sessions of a walk, one for each server of its case.
type sessions struct {
	file    *File
	c       *plan.Case
	servers []*pool.Server
	out     *outcome

	of       map[*pool.Server]*mcp.Session
	marks    map[*mcp.Session]tail.Mark // of standard error, when the session was taken
	before   [][]int                    // per session, the tests that used it before
	warm     bool                       // a session was kept from an earlier run
	notReady bool                       // a server was not ready in time
}

// open opens a session to every server of the case. If one cannot be opened, it sets the
// outcome, or returns the response that refused it, if assertions examine that.
func (s *sessions) open(ctx context.Context) (refusal *wire.HTTPInfo, ok bool) {
	s.of, s.marks = map[*pool.Server]*mcp.Session{}, map[*mcp.Session]tail.Mark{}
	for _, server := range s.servers {
		s.file.Coverage.Server(server.Def, s.file.Plan) // also if it does not start
		slot := s.getSlot(server)
		sess, err := slot.Session(ctx)
		if err == nil && needsList(s.c, sess) {
			server.Tools().Wait(ctx)
			sess, err = slot.Session(ctx) // the server may have ended on tools/list
		} else if err == nil && callsTools(s.c) {
			server.Tools().ReadAhead(ctx)
		}
		if err != nil {
			return s.explainNotOpened(ctx, server, err), false
		}
		s.out.c.AfterRestart = s.out.c.AfterRestart || slot.WasRestarted()
		s.use(server, sess)
		s.before = append(s.before, s.file.Uses.Add(sess, s.c.Index))
		s.warm = s.warm || slot.WasKept()
		if s.c.Alone {
			server.ReportViolations(sess) // from before this case
		}
		s.out.previous = cmp.Or(server.Use(sess, s.nameCase()), s.out.previous)
	}
	return nil, true
}

// nameCase returns the name of the case with its file, for messages about other tests.
func (s *sessions) nameCase() string { return s.file.Plan.Path + ": " + strconv.Quote(s.c.Name) }

// getSlot returns the slot the case uses. In a serial file that is always the first,
// which fixture steps use too.
func (s *sessions) getSlot(server *pool.Server) *pool.Slot {
	if s.file.Plan.Serial {
		return server.First()
	}
	return server.Next()
}

func (s *sessions) use(server *pool.Server, sess *mcp.Session) {
	s.of[server] = sess
	if t := sess.Stderr(); t != nil {
		s.marks[sess] = t.Mark()
	}
}

// reopen replaces a session that has ended. It returns false if that fails.
func (s *sessions) reopen(ctx context.Context, server *pool.Server) bool {
	sess, err := s.getSlot(server).Session(ctx)
	if err != nil {
		return false
	}
	s.out.c.AfterRestart = true
	s.use(server, sess)
	return true
}

// explainNotOpened sets the outcome of a case whose session cannot be opened, or returns the
// refusal that its assertions examine.
func (s *sessions) explainNotOpened(ctx context.Context, server *pool.Server, err error) *wire.HTTPInfo {
	if fixture.Stopping(ctx) {
		s.out.fail(result.Skip, Interrupted)
		return nil
	}
	refused, ok := errors.AsType[*wire.HTTPError](err)
	if ok && !s.c.Flow && examinesHTTP(s.c, s.c.Ops[0]) {
		return refused.Info
	}
	c := s.out.c
	s.out.fail(result.Error, fmt.Sprintf("server %q: %v", server.Def.Name, err))
	s.notReady = s.notReady || connect.IsNotReady(err)
	if se, ok := errors.AsType[*proc.StartError](err); ok && len(se.Looked) > 1 {
		c.Searched = se.Looked
	}
	if oe, ok := errors.AsType[*wire.OpenError](err); ok {
		c.Stderr = strings.Join(oe.StderrTail, "\n")
		// The output of the server often explains the failure: a question of a
		// package manager, a banner.
		for _, v := range oe.Violations[:min(3, len(oe.Violations))] {
			c.Violations = append(c.Violations, result.Violation{
				Kind:      v.Kind,
				Message:   v.Msg,
				Excerpt:   v.Excerpt,
				Offset:    v.Offset,
				Tolerated: v.Tolerated,
			})
		}
	}
	if closed, ok := errors.AsType[*wire.ClosedError](err); ok && c.Stderr == "" {
		c.Stderr = strings.Join(closed.Stderr, "\n")
	}
	return nil
}

// awaitIdle waits until no session has a message on its way.
func (s *sessions) awaitIdle() {
	for server, sess := range s.of {
		server.AwaitIdle(sess)
	}
}

// takeViolations takes the violations that belong to no call. A case that shares its
// session is not blamed for them.
func (s *sessions) takeViolations() {
	for _, server := range s.servers {
		sess := s.of[server]
		switch {
		case sess == nil:
		case s.c.Alone:
			server.AwaitIdle(sess)
			s.out.addViolations(server, sess.TakeViolations())
		default:
			server.ReportViolations(sess)
		}
	}
}

// recordSideEvents records what else happened in the sessions of the case. That this run
// opened another session is in the messages of what it may have broken.
func (s *sessions) recordSideEvents() {
	for _, server := range s.servers {
		sess := s.of[server]
		if sess == nil {
			continue
		}
		for _, e := range sess.SideEvents() {
			if e.Kind == wire.SideRival {
				continue
			}
			s.out.c.SideEvents = append(s.out.c.SideEvents, result.SideEvent{
				Server: server.Def.Name,
				Text:   e.Text,
				Times:  e.N,
				AtMS:   ms(e.At.Sub(s.file.Start)),
			})
		}
	}
}

// recordStderr records what the servers wrote to standard error during the case and
// when. The text of a server that ended is recorded already; it includes earlier output.
func (s *sessions) recordStderr() {
	c := s.out.c
	var lines []string
	var at []time.Time
	for _, server := range s.servers {
		if sess := s.of[server]; sess != nil && sess.Stderr() != nil {
			mark := s.marks[sess]
			if c.Stderr != "" {
				mark = 0
			}
			text, times := sess.Stderr().EndsSince(mark, wire.StderrLines)
			lines, at = append(lines, text...), append(at, times...)
		}
	}
	text := strings.Join(lines, "\n")
	if c.Stderr == "" {
		c.Stderr = text
	}
	if c.Stderr == text && len(at) == len(lines) {
		for _, t := range at {
			c.StderrMS = append(c.StderrMS, ms(t.Sub(s.file.Start)))
		}
	}
}
