package expect

import (
	"context"

	"mcptest/internal/jsonv"
	"mcptest/internal/snapshot"
	"mcptest/internal/surface"
	"mcptest/internal/surface/assert"
)

// Observation is what one call showed: everything a target can look at. Fields
// that the tree does not use (see [Tree.Uses]) may stay zero. It remembers
// what it derived (joined text, parsed text), so it belongs to one goroutine
// and is not to be changed once it was evaluated.
type Observation struct {
	Result jsonv.Value // the raw result; absent when there was none
	Error  jsonv.Value // the JSON-RPC error; absent (or null) when there was none

	// What the server sent during the call, in order.
	Notifications, Logs, Progress, Requests []jsonv.Value

	DurationMS    float64     // time of the call, in milliseconds
	ResponseBytes int         // size of the response frame
	HTTPStatus    int         // 0 when the server is not reached by HTTP
	HTTPHeaders   jsonv.Value // object of response headers; absent without HTTP
	Stderr        string      // what the server wrote there during the call
	Server        jsonv.Value // result of initialize or server/discover
	Steps         jsonv.Value // object of a flow's earlier steps by name
	Surface       *surface.Offer
	Upstream      jsonv.Value // object of the upstreams by name; absent without any

	cache derived
}

// Env is everything outside of the observation that judging may touch.
type Env struct {
	// Dir is the suite's directory, where Exec runs programs.
	Dir string
	// Exec runs a program of the suite's author and returns what it wrote
	// to standard output. nil means that no program is ever run.
	Exec func(ctx context.Context, argv []string, stdin []byte) (stdout []byte, err error)
	// Snapshot compares a value with the stored one of that name; nil: there
	// are none.
	Snapshot func(name string, o *snapshot.Options, s Subject) snapshot.Comparison
	// Surface judges what a server offers; nil: lock files are not read.
	Surface func(ctx context.Context, c *assert.Check, offer jsonv.Value) assert.Verdict
	// Others is what the server offers to other clients, and what other servers
	// offer, by their names; nil: they are not asked.
	Others func(ctx context.Context) (map[string]jsonv.Value, error)
	// Examined says that other items, which passed, looked at the error of
	// this call: those of the step of a flow that made it.
	Examined bool
}

// failure describes the failure of the call itself: a JSON-RPC error or
// isError: true. It is "" when the call returned a plain result.
func (o *Observation) failure() string {
	if o.hasError() {
		return "the call returned " + showError(o.Error)
	}
	if !o.flagged() {
		return ""
	}
	msg := "the result has isError: true"
	if text, _ := o.text(); text.Kind() == jsonv.KindString && text.Text() != "" {
		msg += ": " + show(text, shownSaid)
	}
	return msg
}

// hasError reports whether there is a JSON-RPC error; "error": null is none.
func (o *Observation) hasError() bool { return o.Error.Kind() > jsonv.KindNull }

// failed reports whether the call itself failed.
func (o *Observation) failed() bool { return o.hasError() || o.flagged() }

// flagged reports whether the result says isError: true.
func (o *Observation) flagged() bool {
	v, ok := o.Result.Get(keyIsError)
	return ok && v.Kind() == jsonv.KindBool && v.Bool()
}

// showError shows a JSON-RPC error in a few words: error -32601 "Method not
// found".
func showError(e jsonv.Value) string {
	out := "an error"
	if code := e.Lookup("code"); code.Kind() == jsonv.KindNumber {
		out = "error " + show(code, shownKey)
	}
	if msg := e.Lookup("message"); msg.Kind() == jsonv.KindString {
		out += " " + show(msg, shownSaid)
	}
	return out
}
