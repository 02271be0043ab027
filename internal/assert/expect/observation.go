package expect

import (
	"context"

	"mcptest/internal/assert/snapshot"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/offer/assert"
	"mcptest/internal/offer/surface"
)

// Observation holds the data of one call that targets can examine. Fields that the
// tree does not use (see [Tree.Uses]) may be zero. It caches derived values (joined
// text, parsed text), so it belongs to one goroutine and must not be changed after
// its evaluation.
type Observation struct {
	Result jsonv.Value // the raw result; absent if there is none
	Error  jsonv.Value // the JSON-RPC error; absent (or null) if there is none

	// Messages from the server during the call, in order.
	Notifications, Logs, Progress, Requests []jsonv.Value

	DurationMS    float64     // duration of the call
	ResponseBytes int         // size of the response frame
	HTTPStatus    int         // 0 without HTTP
	HTTPHeaders   jsonv.Value // object of response headers; absent without HTTP
	Stderr        string      // output of the server during the call
	Server        jsonv.Value // result of initialize or server/discover
	Steps         jsonv.Value // object of a flow's earlier steps by name
	Surface       *surface.Offer
	Upstream      jsonv.Value // object of the upstreams by name; absent without any

	cache derived
}

// Env is the environment of an evaluation, in addition to the observation.
type Env struct {
	// Dir is the suite's directory, where Exec runs programs.
	Dir string
	// Exec runs a program of the suite's author and returns its standard output. If
	// it is nil, no program is run.
	Exec func(ctx context.Context, argv []string, stdin []byte) (stdout []byte, err error)
	// Snapshot compares a value with the stored one of that name; may be nil.
	Snapshot func(name string, o *snapshot.Options, s Subject) snapshot.Comparison
	// Surface evaluates what a server offers; nil: lock files are not read.
	Surface func(ctx context.Context, c *assert.Check, offer jsonv.Value) assert.Verdict
	// Others returns what the server offers to other clients, and what other servers
	// offer, by name; may be nil.
	Others func(ctx context.Context) (map[string]jsonv.Value, error)
	// Examined is set if other items, which passed, examined the error of this call:
	// those of its step in a flow.
	Examined bool
}

// failure describes the failure of the call: a JSON-RPC error or isError: true. It
// returns "" if the call succeeded.
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

// hasError reports whether there is a JSON-RPC error; "error": null is not one.
func (o *Observation) hasError() bool { return o.Error.Kind() > jsonv.KindNull }

// failed reports whether the call failed.
func (o *Observation) failed() bool { return o.hasError() || o.flagged() }

// flagged reports whether the result has isError: true.
func (o *Observation) flagged() bool {
	v, ok := o.Result.Get(keyIsError)
	return ok && v.Kind() == jsonv.KindBool && v.Bool()
}

// showError formats a JSON-RPC error: error -32601 "Method not found".
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
