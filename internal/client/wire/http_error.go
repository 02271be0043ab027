package wire

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"mcptest/internal/base/syserr"
	"mcptest/internal/client/protocol"
)

// HTTPError ends a call whose HTTP response is not a JSON-RPC response, because of
// its status, content type or body.
type HTTPError struct {
	Method string // of the message
	Note   string // what is wrong in addition to the status; empty for a status of 400 and above
	RPC    *protocol.RPCError
	Info   *HTTPInfo // never nil
}

// Error returns e.g. `tools/call: HTTP 502 Bad Gateway (text/html): "<html>…"`.
func (e *HTTPError) Error() string {
	var b strings.Builder
	if e.Method != "" {
		b.WriteString(e.Method + ": ")
	}
	fmt.Fprintf(&b, "HTTP %d", e.Info.Status)
	if text := http.StatusText(e.Info.Status); text != "" {
		b.WriteString(" " + text)
	}
	if e.Info.ContentType != "" {
		b.WriteString(" (" + protocol.Excerpt([]byte(e.Info.ContentType)) + ")")
	}
	if e.Note != "" {
		b.WriteString(": " + e.Note)
	}
	b.WriteString(describeChallenge(e.Info))
	switch {
	case e.RPC != nil:
		b.WriteString(": " + protocol.Excerpt([]byte(e.RPC.Error())))
	case len(e.Info.Body) > 0:
		b.WriteString(": " + protocol.Excerpt(e.Info.Body))
	}
	if e.Info.NotAgain != "" {
		b.WriteString(" (not sent again: " + e.Info.NotAgain + ")")
	}
	if e.Info.Attempts > 1 {
		fmt.Fprintf(&b, " (attempt %d)", e.Info.Attempts)
	}
	return b.String()
}

// Detail returns the first 2 KiB of the body, escaped line by line.
func (e *HTTPError) Detail() string {
	if len(e.Info.Body) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("body:\n")
	for _, l := range strings.Split(strings.TrimRight(string(e.Info.Body), "\n"), "\n") {
		b.WriteString("  " + protocol.Excerpt([]byte(l)) + "\n")
	}
	return b.String()
}

// ConnectError ends a call whose HTTP exchange failed: no connection, TLS, a reset, a
// response that is not HTTP.
type ConnectError struct {
	Method string
	URL    string
	Err    error
	Info   *HTTPInfo // nil if there was no response
}

// Error returns e.g. "initialize: POST http://127.0.0.1:1/mcp: connection refused".
func (e *ConnectError) Error() string {
	s := e.URL + ": " + connectText(e.Err)
	if e.Method != "" {
		s = e.Method + ": " + s
	}
	return s
}

// Unwrap returns the network's error.
func (e *ConnectError) Unwrap() error { return e.Err }

// connectText describes a network error, with a hint on how to fix it.
func connectText(err error) string {
	// What net/http says about a server that sends text before the request.
	s := strings.Replace(syserr.Text(err), "readLoopPeekFailLocked: %!w(<nil>)", "malformed HTTP response before the request", 1)
	switch {
	case strings.Contains(s, "x509: certificate signed by unknown authority"),
		strings.Contains(s, "certificate is not trusted"):
		return s + " (tls.ca_file names an authority to trust)"
	case strings.Contains(s, "server gave HTTP response to HTTPS client"):
		return "the server speaks HTTP, not HTTPS"
	case strings.Contains(s, "malformed HTTP response"), strings.Contains(s, "malformed HTTP status"), strings.Contains(s, "malformed HTTP version"):
		return "the response is not HTTP: " + protocol.Excerpt([]byte(s))
	case strings.HasSuffix(s, "EOF"):
		return "the connection was closed before a response: " + s
	}
	return protocol.Excerpt([]byte(s))
}

// StreamError ends a call whose event stream ended or failed before the response.
type StreamError struct {
	Method  string
	Events  int   // number of events on the stream
	Resumed int   // number of times it was resumed
	Err     error // nil: it ended normally
	Info    *HTTPInfo
}

// Error describes how the stream ended.
func (e *StreamError) Error() string {
	how := "ended"
	if e.Err != nil {
		how = "broke"
	}
	s := fmt.Sprintf("%s: no response on the stream: it %s after %s", e.Method, how, countEvents(e.Events))
	if e.Resumed > 0 {
		s += fmt.Sprintf(", resumed %d times", e.Resumed)
	}
	if e.Err != nil {
		s += ": " + protocol.Excerpt([]byte(e.Err.Error()))
	}
	return s
}

// Unwrap returns the network's error.
func (e *StreamError) Unwrap() error { return e.Err }

func countEvents(n int) string {
	if n == 1 {
		return "1 event"
	}
	return fmt.Sprintf("%d events", n)
}

// SessionLostError ends a call to which the server responded that it does not know the
// session (HTTP 404, or 400 with such a message). A new session is opened; the call is not
// repeated, because it may have been executed.
type SessionLostError struct {
	Method  string
	Renewed bool  // a new session was opened
	Rival   bool  // another session with the server had been opened since
	Err     error // why no new session was opened
	Info    *HTTPInfo
	session string
}

// Error describes the outcome for the session and the call.
func (e *SessionLostError) Error() string {
	s := fmt.Sprintf("%s: the server has lost the session (HTTP %d)", e.Method, e.Info.Status)
	if e.Info.Status != http.StatusNotFound {
		s = fmt.Sprintf("%s: the server has lost the session (HTTP %d: %s)", e.Method, e.Info.Status, protocol.Excerpt(e.Info.Body))
	}
	if e.Rival {
		s += " after another session had been opened (it may keep one only)"
	}
	switch {
	case e.Err != nil:
		return s + " and a new one could not be started: " + e.Err.Error()
	case e.Renewed && e.Info.Status != http.StatusNotFound:
		return s + "; a new one was started, as clients do after HTTP 404 only, and the call was not repeated"
	case e.Renewed:
		return s + "; a new one was started, the call was not repeated"
	}
	return s
}

// Unwrap returns why no new session was opened.
func (e *SessionLostError) Unwrap() error { return e.Err }

// An exchangeError is the error of an HTTP exchange.
type exchangeError interface {
	error
	info() *HTTPInfo
}

func (e *HTTPError) info() *HTTPInfo        { return e.Info }
func (e *ConnectError) info() *HTTPInfo     { return e.Info }
func (e *StreamError) info() *HTTPInfo      { return e.Info }
func (e *SessionLostError) info() *HTTPInfo { return e.Info }
func (e *EndpointError) info() *HTTPInfo    { return e.Info }

// findInfo returns the HTTP data of an error.
func findInfo(err error) *HTTPInfo {
	if e, ok := errors.AsType[exchangeError](err); ok {
		return e.info()
	}
	return nil
}

// isNotStreamable reports whether the response to initialize may be that of a server
// which only supports HTTP+SSE (MCP 2025-11-25 transports, backwards compatibility).
func isNotStreamable(err error) bool {
	return HasStatus(err, http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed)
}

// HasStatus reports whether err is that of an HTTP response with one of the statuses.
func HasStatus(err error, statuses ...int) bool {
	e, ok := errors.AsType[*HTTPError](err)
	return ok && slices.Contains(statuses, e.Info.Status)
}

// losesSession reports whether an HTTP response to a request with a session id means
// that the session is gone. In a revision with sessions, 404 means that (MCP
// 2025-11-25 transports, session management), unless the body has another reason, an
// unknown method. Restarted servers may also respond with 400 and a message.
func losesSession(status int, body []byte) bool {
	if status != http.StatusNotFound && status != http.StatusBadRequest {
		return false
	}
	rpc := parseRPCError(body)
	switch {
	case status == http.StatusNotFound:
		return rpc == nil || rpc.Code != protocol.CodeMethodNotFound
	case rpc != nil:
		return deniesSession(strings.ToLower(rpc.Message))
	}
	return deniesSession(strings.ToLower(string(body[:min(len(body), bodyExcerpt)])))
}

// deniesSession matches messages, in lower case, that servers send for unknown
// sessions.
func deniesSession(text string) bool {
	return slices.ContainsFunc([]string{
		"no valid session", "invalid session", "invalid or missing session", "missing or invalid session",
		"unknown session", "session not found", "no such session", "session expired", "session has been terminated",
		"server not initialized",
	}, func(words string) bool { return strings.Contains(text, words) })
}
