package boundary

import (
	"fmt"
	"slices"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/wire"
)

// question is what the body of an HTTP request asks for: the ids of its JSON-RPC requests.
type question struct {
	ids   []jsonv.Value
	batch bool
}

// findRequests returns the requests in a body that ask for a response: messages with an id that
// are no responses themselves.
func findRequests(body []byte) (q question, asks bool) {
	v, err := jsonv.Parse(body)
	if err != nil {
		return q, false
	}
	q.batch = v.Kind() == jsonv.KindArray
	for _, message := range listMessages(v) {
		id, has := message.Get("id")
		if has && message.Lookup("result").IsAbsent() && message.Lookup("error").IsAbsent() {
			q.ids = append(q.ids, id)
		}
	}
	return q, len(q.ids) > 0
}

// listMessages returns the messages of a batch, or the single one.
func listMessages(v jsonv.Value) []jsonv.Value {
	if v.Kind() == jsonv.KindArray {
		return v.List()
	}
	return []jsonv.Value{v}
}

// list returns the messages that may be responses: those of a batch only if one was sent.
func (q question) list(message jsonv.Value) []jsonv.Value {
	if q.batch {
		return listMessages(message)
	}
	return []jsonv.Value{message}
}

// find returns the response to the request id among messages.
func (q question) find(id jsonv.Value, messages []jsonv.Value) (response jsonv.Value, found bool) {
	for _, m := range messages {
		list := q.list(m)
		if i := slices.IndexFunc(list, func(m jsonv.Value) bool { return answers(m, id) }); i >= 0 {
			return list[i], true
		}
	}
	return response, false
}

// answers reports whether a message is the response to the request id. A server that cannot
// read the id of a request refuses it without one.
func answers(message, id jsonv.Value) bool {
	if !isResponse(message) {
		return false
	}
	own := message.Lookup("id").OrNull()
	return jsonv.Equal(own, id) || own.Kind() == jsonv.KindNull && isError(message)
}

// isResponse reports whether a message is a JSON-RPC response.
func isResponse(message jsonv.Value) bool {
	has := !message.Lookup("result").IsAbsent() || isError(message)
	return has && message.Lookup("jsonrpc").Text() == "2.0" && message.Lookup("method").IsAbsent()
}

// isError reports whether a message has the member of an error response, which is an object.
func isError(message jsonv.Value) bool { return message.Lookup("error").Kind() == jsonv.KindObject }

// answer is what came back: the messages of an event stream, or the body.
type answer struct {
	messages []jsonv.Value
	stream   bool
	info     *wire.HTTPInfo
	bytes    int
}

// findResponse returns the message that the targets result and error examine: the response to the
// first request. If a request has no response, missing says so.
func (a answer) findResponse(body []byte) (message jsonv.Value, missing string) {
	q, asks := findRequests(body)
	if !asks {
		if n := len(a.messages); n > 0 && isResponse(a.messages[n-1]) {
			return a.messages[n-1], ""
		}
		return message, ""
	}
	for i, id := range q.ids {
		response, found := q.find(id, a.messages)
		if !found {
			missing = "there is no JSON-RPC response to the id " + id.Short(40) + ": " + a.describeInstead(q)
			return jsonv.Value{}, missing
		}
		if i == 0 {
			message = response
		}
	}
	return message, ""
}

// describeInstead says what came in place of the response.
func (a answer) describeInstead(q question) string {
	var all []jsonv.Value
	for _, m := range a.messages {
		all = append(all, q.list(m)...)
	}
	other := slices.IndexFunc(all, isResponse)
	status := fmt.Sprintf("HTTP status %d", a.info.Status)
	switch {
	case len(q.ids) > 1 && other >= 0:
		return "the others have one"
	case other >= 0:
		return "the response has the id " + all[other].Lookup("id").OrNull().Short(40)
	case a.stream:
		return fmt.Sprintf("the event stream has %s, and none of them is the response (%s)", display.Count(len(a.messages), "event"), status)
	case a.bytes == 0:
		return status + " with an empty body"
	case len(all) == 1 && all[0].Kind() == jsonv.KindObject:
		return status + ", and " + whyNoResponse(all[0])
	case len(all) == 1 && all[0].Kind() == jsonv.KindArray:
		return status + ", and the body is a list, not a message"
	case a.info.ContentType != "":
		return status + " with a body of type " + display.Truncate(a.info.ContentType, 60)
	}
	return status + " with a body that is none"
}

// whyNoResponse says why an object is not a JSON-RPC response.
func whyNoResponse(message jsonv.Value) string {
	version, failure := message.Lookup("jsonrpc"), message.Lookup("error")
	switch {
	case !message.Lookup("method").IsAbsent():
		return "the message has a method, which no response has"
	case message.Lookup("result").IsAbsent() && failure.IsAbsent():
		return "the body has neither a result nor an error"
	case version.Text() != "2.0":
		return `the body has no "jsonrpc": "2.0"`
	}
	return "its error is not an object: " + failure.Short(40)
}
