package target

import (
	"mcptest/internal/assert/shown"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/offer/surface"
)

// Observation holds the data of one call that targets can examine. Fields that the
// tree does not use (see [Tree.Uses]) may be zero. It caches derived values (joined
// text, parsed text), so it belongs to one goroutine and must not be changed after
// its evaluation.
type Observation struct {
	Result jsonv.Value // the raw result; absent if there is none
	Error  jsonv.Value // the JSON-RPC error; absent (or null) if there is none
	// Unanswered says why a request that asked for a response got none. Nothing below the
	// roots that examine one is known then, not even that there was no error.
	Unanswered string

	// Messages from the server during the call, in order.
	Notifications, Logs, Progress, Requests []jsonv.Value

	DurationMS    float64     // duration of the call
	ResponseBytes int         // size of the response frame
	HTTPStatus    int         // 0 without HTTP
	HTTPHeaders   jsonv.Value // object of response headers; absent without HTTP
	Challenge     string      // what the HTTP response asks for: scopes, a reason; may be ""
	Stderr        string      // output of the server during the call
	Server        jsonv.Value // result of initialize or server/discover
	Steps         jsonv.Value // object of a flow's earlier steps by name
	Surface       *surface.Offer
	Upstream      jsonv.Value // object of the upstreams by name; absent without any
	Own           jsonv.Value // object of what only a test without a call observes, by root

	// Cut says, by root, why only the beginning and the end of a text are known.
	Cut map[string]string

	cache derived
}

// Failure describes the failure of the call: a JSON-RPC error or isError: true. It
// returns "" if the call succeeded.
func (o *Observation) Failure() string {
	if o.HasError() {
		return "the call returned " + o.showError()
	}
	if !o.Flagged() {
		return ""
	}
	msg := "the result has isError: true"
	if text, _ := o.Text(); text.Kind() == jsonv.KindString && text.Text() != "" {
		msg += ": " + shown.Value(text, shown.Said)
	}
	return msg
}

// HasError reports whether there is a JSON-RPC error; "error": null is not one.
func (o *Observation) HasError() bool { return o.Error.Kind() > jsonv.KindNull }

// Failed reports whether the call failed.
func (o *Observation) Failed() bool { return o.HasError() || o.Flagged() }

// Flagged reports whether the result has isError: true.
func (o *Observation) Flagged() bool {
	v, ok := o.Result.Get(KeyIsError)
	return ok && v.Kind() == jsonv.KindBool && v.Bool()
}

// showError formats a JSON-RPC error: error -32601 "Method not found".
func (o *Observation) showError() string {
	e, out := o.Error, "an error"
	if code := e.Lookup("code"); code.Kind() == jsonv.KindNumber {
		out = "error " + shown.Value(code, shown.ShortKey)
	}
	if msg := e.Lookup("message"); msg.Kind() == jsonv.KindString {
		out += " " + shown.Value(msg, shown.Said)
	}
	if o.Challenge != "" {
		out += " (" + o.Challenge + ")"
	}
	return out
}
