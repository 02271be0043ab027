package connect

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"

	"mcptest/internal/base/syserr"
	"mcptest/internal/client/auth"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/process/proc"
	"mcptest/internal/spec/plan"
)

// Sessions are the sessions that a command has opened. They explain why a further one
// is refused. A nil *Sessions knows nothing.
type Sessions struct {
	mu    sync.Mutex
	known map[string]*siblings // by what is connected to
}

// siblings are the sessions with one server.
type siblings struct {
	open  []sibling
	ended string // how the client ended the last one; "": it ended none, or the server did

	// The last one was of a revision without sessions: a server that answers initialize with
	// an error refuses sessions as such then, and not a second one.
	stateless bool
}

type sibling struct {
	sess   *mcp.Session
	server string // its name in the suite
}

// NewSessions returns an empty list.
func NewSessions() *Sessions { return &Sessions{known: map[string]*siblings{}} }

// place identifies what sessions with a server connect to: its address or its program.
func place(sv *plan.Server) string {
	if sv.URL != "" {
		return sv.URL
	}
	return strings.Join(sv.Identity(), "\x00")
}

// findSiblings returns the sessions with a server, without those that have ended. The caller holds
// the lock.
func (s *Sessions) findSiblings(sv *plan.Server) *siblings {
	key := place(sv)
	list := s.known[key]
	if list == nil {
		list = &siblings{}
		s.known[key] = list
	}
	list.open = slices.DeleteFunc(list.open, func(one sibling) bool {
		if one.sess.Alive() {
			return false
		}
		list.ended = ""
		if closed, ok := errors.AsType[*wire.ClosedError](one.sess.Err()); !ok || closed.Ours { // the client has ended it
			list.ended = endOf(one.sess)
		}
		return true
	})
	return list
}

// endOf says how the client ended a session, as the server could see it.
func endOf(sess *mcp.Session) string {
	facts := sess.Facts()
	switch {
	case facts.URL == "":
		return "after the first process had ended"
	case facts.Bye == 0:
		return "while the first was open for it (it has no session id, so that a client can't end it)"
	}
	return fmt.Sprintf("while the first was open for it (mcptest had ended it: DELETE got HTTP %d)", facts.Bye)
}

// Opened adds a session, and lets the others with this server know that they have a rival.
func (s *Sessions) Opened(sv *plan.Server, sess *mcp.Session) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.findSiblings(sv)
	for _, other := range list.open {
		other.sess.HasRival()
	}
	list.open = append(list.open, sibling{sess, sv.Name})
	list.stateless = sess.Era() == protocol.EraStateless
}

// Explain returns the error of a session that could not be opened as a *SecondError if
// the command has opened another one with this server.
func (s *Sessions) Explain(sv *plan.Server, err error) error {
	if s == nil || err == nil || !refuses(err) {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.findSiblings(sv)
	if list.stateless && hasAnswered(err) {
		return err
	}
	second := &SecondError{Open: len(list.open), Err: err, when: list.ended}
	switch {
	case second.Open == 1 && list.open[0].server != sv.Name:
		second.when = fmt.Sprintf("while the first was open (server %q)", list.open[0].server)
	case second.Open == 1:
		second.when = "while the first was open"
	case second.Open > 1:
		second.when = fmt.Sprintf("while %d were open", second.Open)
	case list.ended == "":
		return err
	}
	return second
}

// refuses reports whether an error is what a server answers that accepts no further
// session: not one of the network, of credentials or of the protocol version.
func refuses(err error) bool {
	var open *wire.OpenError
	if !errors.As(err, &open) || open.Phase == "protocol" {
		return false
	}
	if errors.As(err, new(*proc.StartError)) || errors.As(err, new(*auth.LoginError)) {
		return false
	}
	if wire.HasStatus(err, http.StatusUnauthorized, http.StatusForbidden) {
		return false
	}
	noServer := syserr.Is(err, syscall.ECONNREFUSED) || errors.As(err, new(*net.DNSError))
	return !noServer && !errors.As(err, new(*tls.CertificateVerificationError)) && !errors.As(err, new(tls.RecordHeaderError))
}

// hasAnswered reports whether a server answered the handshake with an error of JSON-RPC.
func hasAnswered(err error) bool {
	_, ok := errors.AsType[*protocol.RPCError](err)
	return ok
}

// OwnTransport is what the author of a server can do that has one session only.
const OwnTransport = "let the server make a transport of its own for each session"

// SecondError reports that a server refused a further session.
type SecondError struct {
	Open int // sessions with the server that were open
	Err  error
	when string
}

// Error says when the session was refused, and what the server answered.
func (e *SecondError) Error() string {
	what := "a second session "
	if e.Open > 1 {
		what = "another session "
	}
	return "the server refused " + what + e.when + ": " + e.Err.Error()
}

// Unwrap returns the error of the session.
func (e *SecondError) Unwrap() error { return e.Err }
