package mcp

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"mcptest/internal/jsonv"
	"mcptest/internal/mcp/protocol"
	"mcptest/internal/mcp/wire"
)

// Answerer answers a request of the server. The result is JSON text. Both nil
// means that the method is not known: -32601. It runs on its own goroutine and
// ends when ctx does; then nothing is sent.
type Answerer func(ctx context.Context, method string, params []byte) (result []byte, rpcErr *protocol.RPCError)

// notification files a notification with the calls in flight: progress with
// the call whose token it carries, anything else with every call in flight.
func (s *Session) notification(raw []byte, e *protocol.Envelope, f wire.Frame) {
	if !s.checkMethod(e, raw, f) {
		s.settle("", nil)
		return
	}
	m := s.messageOf(KindNotification, raw, e, f)
	switch m.Method {
	case "notifications/progress":
		if k := s.progressCall(e, f); k != nil {
			s.settle(k.x.ID, k)
			k.keep(m, &s.lim)
			s.journal.add(m)
			return
		}
	case "notifications/cancelled":
		s.cancelAsked(e.Params)
	}
	s.settle("", nil)
	if id := protocol.SubscriptionOf(m.Params); m.Stream == "" && id != nil && s.calls.find(ownOr(id)) != nil {
		m.Stream = string(id)
	}
	s.share(m)
}

func (s *Session) messageOf(kind MessageKind, raw []byte, e *protocol.Envelope, f wire.Frame) Message {
	f.Raw = raw
	return Message{Frame: f, Kind: kind, Method: protocol.TextOf(e.Method), ID: string(e.ID), Params: e.Params}
}

// share lists a message with the call on whose stream it came, or with every
// call in flight.
func (s *Session) share(m Message) {
	if k := s.calls.callOf(m.Stream); k != nil && (!k.listening || m.Method == protocol.ListenAcknowledged) {
		k.keep(m, &s.lim)
		s.journal.add(m)
		return
	}
	m.Shared = s.calls.inFlight() > 1
	s.calls.each(func(k *call) {
		if !k.listening {
			k.keep(m, &s.lim)
		}
	})
	s.journal.add(m)
}

// checkMethod notes wrong types of the members of a request or notification.
// It reports whether the message can be used.
func (s *Session) checkMethod(e *protocol.Envelope, raw []byte, f wire.Frame) bool {
	if protocol.KindOf(e.Method) != jsonv.KindString {
		s.flag(protocol.BadMessage, `"method" is `+protocol.KindOf(e.Method).WithArticle()+", not a string", raw, f)
		return false
	}
	if e.Has&protocol.HasParams != 0 && protocol.KindOf(e.Params) != jsonv.KindObject {
		s.flag(protocol.BadMessage, `"params" is `+protocol.KindOf(e.Params).WithArticle()+", not an object", raw, f)
	}
	if e.IsResponse() {
		s.flag(protocol.BadMessage, "a message with both a method and "+(e.Has&(protocol.HasResult|protocol.HasError)).String(), raw, f)
	}
	return true
}

// progressCall finds the call of a progress notification.
func (s *Session) progressCall(e *protocol.Envelope, f wire.Frame) *call {
	token := protocol.MemberOf(e.Params, "progressToken")
	if token == nil {
		s.flag(protocol.ProgressToken, "a progress notification without a progressToken", e.Params, f)
		return nil
	}
	var near *call
	for _, k := range s.calls.pending {
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
		s.flag(protocol.ProgressToken, fmt.Sprintf("progressToken is %s, the request had %s", protocol.Excerpt(token), protocol.Excerpt(near.token)), e.Params, f)
		return near
	}
	// A token of a call that is over may still be on its way.
	if !s.in.tokens.has(string(token)) {
		s.flag(protocol.ProgressToken, "progressToken is "+protocol.Excerpt(token)+", which no request had", e.Params, f)
	}
	return nil
}

// tokenSet remembers the latest progress tokens.
type tokenSet struct{ kept []string }

func (t *tokenSet) has(token string) bool { return slices.Contains(t.kept, token) }

func (t *tokenSet) add(token string) {
	if len(t.kept) == 1024 {
		t.kept = t.kept[1:]
	}
	t.kept = append(t.kept, token)
}

// request answers a request of the server on a goroutine of its own.
func (s *Session) request(raw []byte, e *protocol.Envelope, f wire.Frame) {
	if n, ok := ownID(e.ID); ok {
		if k := s.calls.find(n); k != nil && bytes.Equal(raw, k.x.Request) {
			s.flag(protocol.Echo, "the server sent our own request back", raw, f)
			s.settle(k.x.ID, k)
			s.unusable(k, raw, f.At, protocol.Echo, "the server sent the request itself back instead of an answer")
			return
		}
	}
	usable := s.checkMethod(e, raw, f)
	if d := s.agreed(); d.Stateless {
		s.flag(protocol.BadMessage, "a request of the server, which protocol revision "+d.Name+" does not have", raw, f)
		usable = false
	}
	if t := protocol.KindOf(e.ID); t != jsonv.KindString && !protocol.IsInteger(e.ID) {
		s.flag(protocol.BadMessage, "a request with the id "+protocol.Excerpt(e.ID), raw, f)
		usable = usable && t == jsonv.KindNumber
	}
	if s.serverRequests[string(e.ID)] != nil {
		s.flag(protocol.BadMessage, "a second request with the id "+protocol.Excerpt(e.ID)+" while the first is being answered", raw, f)
		usable = false
	} else if len(s.serverRequests) >= s.lim.Requests {
		s.flag(protocol.Flood, fmt.Sprintf("more than %d requests of the server at once: not answered", s.lim.Requests), raw, f)
		usable = false
	}
	s.settle("", nil)
	m := s.messageOf(KindRequest, raw, e, f)
	s.share(m)
	if !usable || s.closing || s.closed != nil {
		return
	}
	var to []int64
	answer := s.o.Answer
	oldest := int64(0)
	for id, k := range s.calls.pending {
		to = append(to, id)
		if k.answer != nil && (oldest == 0 || id < oldest) {
			oldest, answer = id, k.answer
		}
	}
	if k := s.calls.callOf(f.Stream); k != nil {
		to = []int64{k.id}
	}
	ctx, cancel := context.WithCancel(s.ctx)
	s.serverRequests[m.ID] = cancel
	s.wg.Add(1)
	go func() {
		defer s.wg.Done()
		defer cancel()
		s.reply(ctx, m, answer, to)
	}()
}

// reply finds the answer to a request of the server, records it and sends it.
func (s *Session) reply(ctx context.Context, m Message, answer Answerer, to []int64) {
	var result []byte
	var rpcErr *protocol.RPCError
	switch {
	case m.Method == "ping":
		result = []byte("{}")
	case answer != nil:
		result, rpcErr = answer(ctx, m.Method, m.Params)
	}
	if result == nil && rpcErr == nil {
		rpcErr = &protocol.RPCError{Code: protocol.CodeMethodNotFound, Message: "Method not found"}
	}
	raw, at := protocol.AppendResponse(nil, []byte(m.ID), result, rpcErr)
	a := Message{
		Frame: wire.Frame{Dir: wire.ToServer, At: now(), Raw: raw, Stream: m.Stream}, Kind: KindAnswer, Method: m.Method, ID: m.ID,
		Params: raw[at : len(raw)-1], Shared: m.Shared,
	}
	s.mu.Lock()
	delete(s.serverRequests, m.ID)
	if ctx.Err() != nil {
		s.mu.Unlock()
		return
	}
	for _, id := range to {
		if k := s.calls.find(id); k != nil {
			k.keep(a, &s.lim)
		}
	}
	s.journal.add(a)
	s.mu.Unlock()
	out := wire.Outgoing{Raw: raw, ID: m.ID, Protocol: s.Protocol()}
	_ = s.t.Send(ctx, out) // a server that does not take it shows that by its end
}

// cancelAsked ends the answer to a request that the server has given up.
func (s *Session) cancelAsked(params []byte) {
	if cancel := s.serverRequests[string(protocol.MemberOf(params, "requestId"))]; cancel != nil {
		cancel()
	}
}
