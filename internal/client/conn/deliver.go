package conn

import (
	"context"

	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
)

// deliverer passes messages to those who wait for them: a call, the journal, what
// answers requests of the server.
type deliverer struct {
	state   *state
	answers *responder
	own     Answerer // used unless a call has its own
}

// deliver passes a message on. cause is why it cannot be used, or "".
func (d *deliverer) deliver(in *incoming, cause string) {
	switch {
	case in.ends:
		d.end(in, cause)
	case in.shape == notification && cause == "":
		d.deliverNotification(in)
	case in.shape == request:
		d.request(in, cause == "")
	}
}

// end completes the call of a response.
func (d *deliverer) end(in *incoming, cause string) {
	x := in.call.x
	if in.shape != oversize {
		x.Response = in.Raw
	}
	if in.tooMany {
		x.Cause = &TooManyValuesError{Method: x.Method, Limit: d.state.limits.Values}
	} else if x.Result, x.Error = in.result, in.failure; cause != "" {
		x.Cause = &wire.ProtocolError{Method: x.Method, Msg: cause}
	}
	d.state.calls.complete(in.call, in.At)
}

// deliverNotification assigns a notification to calls in flight: progress to the call with
// its token, others to every call.
func (d *deliverer) deliverNotification(in *incoming) {
	m := in.toMessage(KindNotification)
	if in.call == nil && m.Method == "notifications/progress" && d.state.tokens.has(string(in.token)) {
		d.state.side.Add(wire.SideLate, "progress (token "+protocol.Excerpt(in.token)+") came after the end of its call")
	}
	if in.call != nil {
		in.call.keep(m, &d.state.limits)
		d.state.journal.add(m)
		return
	}
	if m.Method == "notifications/cancelled" {
		d.answers.cancel(string(protocol.MemberOf(m.Params, "requestId")))
	}
	id := protocol.SubscriptionOf(m.Params)
	if m.Stream == "" && d.state.calls.callOf(string(id)) != nil {
		m.Stream = string(id)
	}
	d.share(m)
}

// request answers a request of the server on a new goroutine, if it can be answered.
func (d *deliverer) request(in *incoming, usable bool) {
	m := in.toMessage(KindRequest)
	d.share(m)
	if !usable || d.state.closing || d.state.closed != nil {
		return
	}
	var to []int64
	answer := d.own
	oldest := int64(0)
	for id, k := range d.state.calls.pending {
		to = append(to, id)
		if k.answer != nil && (oldest == 0 || id < oldest) {
			oldest, answer = id, k.answer
		}
	}
	if k := d.state.calls.callOf(in.Stream); k != nil {
		to = []int64{k.id}
	}
	if what := d.state.findUndeclared(in); what != "" {
		answer = newRefusingAnswerer(what)
	}
	d.answers.start(m, answer, to)
}

// newRefusingAnswerer answers a request that needs what the client does not declare.
func newRefusingAnswerer(undeclared string) Answerer {
	return func(_ context.Context, method string, _ []byte) ([]byte, *protocol.RPCError) {
		return nil, protocol.RefusalOf(method, undeclared)
	}
}

// toMessage returns the message for a call and the journal.
func (in *incoming) toMessage(kind MessageKind) Message {
	e := in.envelope
	return Message{Frame: in.Frame, Kind: kind, Method: protocol.TextOf(e.Method), ID: string(e.ID), Params: e.Params}
}

// share adds a message to the call on whose stream it arrived, or to every call in
// flight.
func (d *deliverer) share(m Message) {
	if k := d.state.calls.callOf(m.Stream); k != nil && (!k.listening || m.Method == protocol.ListenAcknowledged) {
		k.keep(m, &d.state.limits)
		d.state.journal.add(m)
		return
	}
	m.Shared = d.state.calls.inFlight() > 1
	d.state.calls.each(func(k *call) {
		if !k.listening {
			k.keep(m, &d.state.limits)
		}
	})
	d.state.journal.add(m)
}
