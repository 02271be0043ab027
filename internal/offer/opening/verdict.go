package opening

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/wire"
)

// Reasons why a client does not get in.
const (
	NoAnswer    = "no-answer"   // silence, or a response that is not one to this client
	ServerError = "http-5xx"    // to a method that the server doesn't know
	Unreadable  = "unreadable"  // neither JSON nor an event stream, or garbage
	Promise     = "promise"     // a revision is promised and not served
	Version     = "version"     // a version is refused in place of negotiating
	Refused     = "refused"     // a request is answered with an error
	Ended       = "ended"       // the process or the connection ends
	Initialized = "initialized" // notifications/initialized is refused
	Malformed   = "malformed"   // the result can't be read
	Undeclared  = "undeclared"  // the server asks what the client doesn't declare
	Credentials = "credentials" // the server refuses the credentials that it got
)

// A Verdict says whether a client gets in.
type Verdict struct {
	Script    Script
	Connected bool
	Revision  string // if connected
	Method    string // at which it ended
	Reason    string
	Says      string // what the server did: "answers HTTP 500 (-32603 Internal error)"
	Does      string // what the client does then
	Fix       string
	Doubt     string // connected, but
	Unjudged  string // why nothing is said; "" if something is
	// NeedsCredentials says that it is unjudged because the server wants to know who asks.
	NeedsCredentials bool
	Correct          bool // the specification allows what the server does
	Died             bool // the connection ended while a request was in flight
}

// Sentence says what happened, for a verdict that is not connected.
func (v Verdict) Sentence(server string) string {
	if server == "" {
		server = "the server"
	}
	who := v.Script.Title + " over " + over(v.Script.Transport)
	text := fmt.Sprintf("%s does not get in: %s %s; %s", who, server, v.What(), v.Does)
	if v.Correct {
		text += "; the server is correct by the specification: it speaks a revision that this client does not"
	}
	return text
}

// What says what the server did to which message: "answers HTTP 500 to server/discover".
func (v Verdict) What() string {
	if v.Reason == Ended || v.Reason == Undeclared {
		return v.Says + " at " + v.Method
	}
	return v.Says + " to " + v.Method
}

// over names a transport.
func over(transport string) string {
	if transport == HTTP {
		return "HTTP"
	}
	return transport
}

// fixes are the sentences by cause.
var fixes = map[string]string{
	NoAnswer: "answer every request with its id; " +
		"a method that the server does not know with error -32601 (HTTP 200 or 4xx)",
	ServerError: "answer a method that the server does not know with error -32601 (HTTP 200 or 4xx)",
	Unreadable: "answer in application/json or text/event-stream, an unknown method with error -32601; " +
		"write nothing but messages to standard output",
	Promise: "remove the revision from supportedVersions, or serve it without a session",
	Version: "answer initialize with a version that the server speaks, whatever the client asks for",
	Refused: "accept the request, and ignore capabilities, titles, experimental objects and _meta " +
		"that the server does not know",
	Ended:       "answer an unknown or early request with an error, and keep running",
	Initialized: "answer notifications/initialized with HTTP 202",
	Malformed:   "return what the schema of the revision requires",
	Undeclared:  "ask a client only for what it declares in its capabilities",
	Credentials: "accept the same credentials for every request of a session",
}

// describe says what the server did.
func describe(a Answer) string {
	switch {
	case a.Ended != "":
		return a.Ended
	case a.Status >= http.StatusBadRequest || a.Status != 0 && a.Message.IsAbsent() && a.Silent == 0:
		return "answers " + formatHTTP(a)
	case isFilled(a.Message.Lookup("error")):
		return "answers " + formatError(a.Message)
	case !a.Stray.IsAbsent():
		return "answers " + a.Stray.Short(120)
	case a.Silent > 0:
		return "gives no answer in " + wire.Duration(max(a.Silent.Round(time.Second), time.Second))
	}
	return "answers " + a.Message.Lookup("result").OrNull().Short(120)
}

// formatError is "-32601 Method not found".
func formatError(m jsonv.Value) string {
	e := m.Lookup("error")
	message := display.Truncate(e.Lookup("message").Text(), 120)
	return strings.TrimSpace(e.Lookup("code").OrNull().Short(20) + " " + message)
}

// formatHTTP is "HTTP 500 (-32603 Internal error)", or the beginning of another body.
func formatHTTP(a Answer) string {
	text := fmt.Sprintf("HTTP %d", a.Status)
	body := a.Message
	if body.IsAbsent() {
		body = a.Stray
	}
	if body.IsAbsent() {
		body, _ = jsonv.Parse(a.Body)
	}
	switch {
	case !body.Lookup("error", "code").IsAbsent():
		return text + " (" + formatError(body) + ")"
	case len(a.Body) == 0 && a.ContentType == "":
		return text + " without a body"
	case len(a.Body) == 0:
		return text + " (" + a.ContentType + ") without a response"
	}
	return text + " (" + strings.TrimSpace(a.ContentType+" "+quote(string(a.Body))) + ")"
}

func quote(text string) string {
	return fmt.Sprintf("%q", display.Truncate(strings.ToValidUTF8(strings.TrimSpace(text), "\uFFFD"), 80))
}

// Conclude compares the verdicts of one server: a server that speaks only a revision without
// sessions is right to refuse initialize. Where no client gets in, the difference between the
// revisions is not what is wrong with the list of tools.
func Conclude(all []Verdict) {
	modern, connected := false, false
	for _, v := range all {
		connected = connected || v.Connected
		modern = modern || v.Connected && v.Revision == stateless()
	}
	for i := range all {
		v := &all[i]
		if !connected && v.Method == "tools/list" {
			v.Fix = "return the list of tools: no client gets in without it, so it should not depend on what may be unreachable"
		}
		refused := v.Reason == Refused || v.Reason == Version
		v.Correct = modern && !v.Connected && v.Unjudged == "" && refused && v.Method == "initialize"
		if v.Correct {
			v.Fix = "serve initialize, too, if this client matters"
		}
	}
}
