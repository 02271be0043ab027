package verify

import (
	"context"
	"time"

	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/run/inspect"
	"mcptest/internal/tape/cassette"
)

// session is a connection to the server under test, in place of a recorded one.
type session struct {
	conn   *inspect.Conn
	during map[string]int // method → notifications during calls
	wanted map[string]int // method → recorded notifications during these calls, at the end also between calls

	violations []Violation               // of the server, until the end of the session
	current    *cassette.Call            // the latest one
	sent       map[string]*cassette.Call // by the id of the request
}

// lateMessages limits the waiting for messages that were recorded and have not come
// yet.
const lateMessages = time.Second

// awaitNotifications waits for the notifications that were recorded, and returns how many of
// each method have come.
func (s *session) awaitNotifications(ctx context.Context) map[string]int {
	ctx, cancel := context.WithTimeout(ctx, lateMessages)
	defer cancel()
	session := s.conn.Session()
	for {
		mark := session.Mark()
		seen := map[string]int{}
		for _, m := range session.Messages(0) {
			if m.Kind == mcp.KindNotification {
				count(seen, m.Method)
			}
		}
		missing := findMissing(s.wanted, seen)
		if missing == "" {
			return seen
		}
		if _, err := session.Wait(ctx, missing, mark); err != nil {
			return seen
		}
	}
}

// findMissing returns a method of which fewer notifications were seen than wanted, or "".
func findMissing(wanted, seen map[string]int) string {
	for method, n := range wanted {
		if n > seen[method] {
			return method
		}
	}
	return ""
}

// keepViolations keeps violations of the server until the end of its session.
func (s *session) keepViolations(list []protocol.Violation) {
	for _, v := range list {
		s.violations = append(s.violations, Violation{v, s.current})
	}
}

// addViolations adds the violations of a session to the report, each with the request whose id it has.
func (r *Report) addViolations(s *session) {
	s.current = nil
	s.conn.ReportRemaining()
	for _, v := range s.violations {
		if call := s.sent[v.ID]; call != nil {
			v.call = call
		}
		r.Violations = append(r.Violations, v)
	}
}
