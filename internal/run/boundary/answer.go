package boundary

import (
	"fmt"
	"slices"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/wire"
)

// question is a JSON-RPC request in the body of an HTTP request.
type question struct {
	id    jsonv.Value
	batch bool
}

// findFirstRequest returns the first request in a body that asks for a response: a message with an id
// that is not a response itself.
func findFirstRequest(body []byte) (q question, asks bool) {
	v, err := jsonv.Parse(body)
	if err != nil {
		return q, false
	}
	for _, message := range listMessages(v) {
		id, has := message.Get("id")
		if has && message.Lookup("result").IsAbsent() && message.Lookup("error").IsAbsent() {
			return question{id, v.Kind() == jsonv.KindArray}, true
		}
	}
	return q, false
}

// listMessages returns the messages of a batch, or the single one.
func listMessages(v jsonv.Value) []jsonv.Value {
	if v.Kind() == jsonv.KindArray {
		return v.List()
	}
	return []jsonv.Value{v}
}

// isAnsweredBy reports whether a message is the response. A server that cannot read the id
// of a request refuses it without one.
func (q question) isAnsweredBy(message jsonv.Value) bool {
	if !isResponse(message) {
		return false
	}
	id := message.Lookup("id").OrNull()
	return jsonv.Equal(id, q.id) || id.Kind() == jsonv.KindNull && !message.Lookup("error").IsAbsent()
}

// isResponse reports whether a message is a JSON-RPC response.
func isResponse(message jsonv.Value) bool {
	has := !message.Lookup("result").IsAbsent() || !message.Lookup("error").IsAbsent()
	return has && message.Lookup("jsonrpc").Text() == "2.0" && message.Lookup("method").IsAbsent()
}

// answer is what came back: the messages of an event stream, or the body.
type answer struct {
	messages []jsonv.Value
	stream   bool
	info     *wire.HTTPInfo
	bytes    int
}

// findResponse returns the message that the targets result and error examine. If the request
// asked for a response and there is none, missing says so.
func (a answer) findResponse(body []byte) (message jsonv.Value, missing string) {
	q, asks := findFirstRequest(body)
	if !asks {
		if n := len(a.messages); n > 0 && isResponse(a.messages[n-1]) {
			return a.messages[n-1], ""
		}
		return message, ""
	}
	for _, m := range a.messages {
		list := []jsonv.Value{m}
		if q.batch {
			list = listMessages(m)
		}
		if i := slices.IndexFunc(list, q.isAnsweredBy); i >= 0 {
			return list[i], ""
		}
	}
	return message, fmt.Sprintf("there is no JSON-RPC response to the id %s: %s", q.id.Short(40), a.describeInstead(q))
}

// describeInstead says what came in place of the response.
func (a answer) describeInstead(q question) string {
	other := slices.IndexFunc(a.messages, isResponse)
	status := fmt.Sprintf("HTTP status %d", a.info.Status)
	switch {
	case other >= 0:
		return "the response has the id " + a.messages[other].Lookup("id").OrNull().Short(40)
	case a.stream:
		return fmt.Sprintf("the event stream has %s, and none of them is the response (%s)", display.Count(len(a.messages), "event"), status)
	case a.bytes == 0:
		return status + " with an empty body"
	case a.info.ContentType != "":
		return status + " with a body of type " + display.Truncate(a.info.ContentType, 60)
	}
	return status + " with a body that is none"
}
