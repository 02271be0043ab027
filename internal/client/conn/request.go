package conn

import (
	"bytes"
	"fmt"
	"slices"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
)

// notification assigns a notification to calls in flight: progress to the call with
// its token, others to every call.
func (r *receiver) notification(raw []byte, e *protocol.Envelope, f wire.Frame) (id string, k *call) {
	if !r.checkMethod(e, raw, f) {
		return "", nil
	}
	m := r.messageOf(KindNotification, raw, e, f)
	switch m.Method {
	case "notifications/progress":
		if k := r.progressCall(e, f); k != nil {
			k.keep(m, &r.limits)
			r.state.journal.add(m)
			return k.x.ID, k
		}
	case "notifications/cancelled":
		r.answers.cancel(string(protocol.MemberOf(e.Params, "requestId")))
	}
	if id := protocol.SubscriptionOf(m.Params); m.Stream == "" && r.calls.callOf(string(id)) != nil {
		m.Stream = string(id)
	}
	r.share(m)
	return "", nil
}

func (r *receiver) messageOf(kind MessageKind, raw []byte, e *protocol.Envelope, f wire.Frame) Message {
	f.Raw = raw
	return Message{Frame: f, Kind: kind, Method: protocol.TextOf(e.Method), ID: string(e.ID), Params: e.Params}
}

// share adds a message to the call on whose stream it arrived, or to every call in
// flight.
func (r *receiver) share(m Message) {
	if k := r.calls.callOf(m.Stream); k != nil && (!k.listening || m.Method == protocol.ListenAcknowledged) {
		k.keep(m, &r.limits)
		r.state.journal.add(m)
		return
	}
	m.Shared = r.calls.inFlight() > 1
	r.calls.each(func(k *call) {
		if !k.listening {
			k.keep(m, &r.limits)
		}
	})
	r.state.journal.add(m)
}

// checkMethod adds violations for members of a request or notification that have the
// wrong type. It reports whether the message can be used.
func (r *receiver) checkMethod(e *protocol.Envelope, raw []byte, f wire.Frame) bool {
	if protocol.KindOf(e.Method) != jsonv.KindString {
		r.notes.flag(protocol.BadMessage, `"method" is `+protocol.KindOf(e.Method).WithArticle()+", not a string", raw, f)
		return false
	}
	if e.Has&protocol.HasParams != 0 && protocol.KindOf(e.Params) != jsonv.KindObject {
		r.notes.flag(protocol.BadMessage, `"params" is `+protocol.KindOf(e.Params).WithArticle()+", not an object", raw, f)
	}
	if e.IsResponse() {
		r.notes.flag(protocol.BadMessage, "a message with both a method and "+(e.Has&(protocol.HasResult|protocol.HasError)).String(), raw, f)
	}
	return true
}

// progressCall returns the call of a progress notification.
func (r *receiver) progressCall(e *protocol.Envelope, f wire.Frame) *call {
	token := protocol.MemberOf(e.Params, "progressToken")
	if token == nil {
		r.notes.flag(protocol.ProgressToken, "a progress notification without a progressToken", e.Params, f)
		return nil
	}
	var near *call
	for _, k := range r.calls.pending {
		if k.token == nil {
			continue
		}
		if bytes.Equal(k.token, token) || protocol.KindOf(token) == jsonv.KindString && protocol.TextOf(token) == protocol.TextOf(k.token) && protocol.TextOf(token) != "" {
			return k
		}
		if bytes.Equal(bytes.Trim(token, `"`), bytes.Trim(k.token, `"`)) {
			near = k
		}
	}
	if near != nil {
		r.notes.flag(protocol.ProgressToken, fmt.Sprintf("progressToken is %s, the request had %s", protocol.Excerpt(token), protocol.Excerpt(near.token)), e.Params, f)
		return near
	}
	// A notification for a completed call may still arrive.
	if !r.state.tokens.has(string(token)) {
		r.notes.flag(protocol.ProgressToken, "progressToken is "+protocol.Excerpt(token)+", which no request had", e.Params, f)
	}
	return nil
}

// tokenSet holds the latest progress tokens.
type tokenSet struct{ kept []string }

func (t *tokenSet) has(token string) bool { return slices.Contains(t.kept, token) }

func (t *tokenSet) add(token string) {
	if len(t.kept) == 1024 {
		t.kept = t.kept[1:]
	}
	t.kept = append(t.kept, token)
}

// request answers a request of the server on a new goroutine.
func (r *receiver) request(raw []byte, e *protocol.Envelope, f wire.Frame) (id string, k *call) {
	if n, ok := protocol.OwnID(e.ID); ok {
		if k := r.calls.find(n); k != nil && bytes.Equal(raw, k.x.Request) {
			r.notes.flag(protocol.Echo, "the server sent the client's own request back", raw, f)
			r.failCall(k, raw, f.At, "the server sent the request itself back instead of a response")
			return k.x.ID, k
		}
	}
	usable := r.checkMethod(e, raw, f)
	if d := r.state.agreed(); d.Stateless {
		r.notes.flag(protocol.BadMessage, "a request of the server, which protocol version "+d.Name+" does not have", raw, f)
		usable = false
	}
	if t := protocol.KindOf(e.ID); t != jsonv.KindString && !protocol.IsInteger(e.ID) {
		r.notes.flag(protocol.BadMessage, "a request with the id "+protocol.Excerpt(e.ID), raw, f)
		usable = usable && t == jsonv.KindNumber
	}
	if busy, full := r.answers.busy(string(e.ID)); busy {
		r.notes.flag(protocol.BadMessage, "a second request with the id "+protocol.Excerpt(e.ID)+" while the first is still being handled", raw, f)
		usable = false
	} else if full {
		r.notes.flag(protocol.Flood, fmt.Sprintf("more than %d concurrent requests of the server: no response to this one", r.limits.Requests), raw, f)
		usable = false
	}
	m := r.messageOf(KindRequest, raw, e, f)
	r.share(m)
	if !usable || r.state.closing || r.state.closed != nil {
		return "", nil
	}
	var to []int64
	answer := r.own
	oldest := int64(0)
	for id, k := range r.calls.pending {
		to = append(to, id)
		if k.answer != nil && (oldest == 0 || id < oldest) {
			oldest, answer = id, k.answer
		}
	}
	if k := r.calls.callOf(f.Stream); k != nil {
		to = []int64{k.id}
	}
	r.answers.start(m, answer, to)
	return "", nil
}
