package mcp

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"mcptest/internal/jsonv"
)

// Answerer answers a request of the server. The result is JSON text. Both nil
// means that the method is not known: -32601. It runs on its own goroutine and
// ends when ctx does; then nothing is sent.
type Answerer func(ctx context.Context, method string, params []byte) (result []byte, rpcErr *RPCError)

// notification files a notification with the calls in flight: progress with
// the call whose token it carries, anything else with every call in flight.
func (s *Session) notification(raw []byte, e *Envelope, f Frame) {
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
	if id := subscriptionOf(m.Params); m.Stream == "" && id != nil && s.pending[ownOr(id)] != nil {
		m.Stream = string(id)
	}
	s.share(m)
}

func (s *Session) messageOf(kind MessageKind, raw []byte, e *Envelope, f Frame) Message {
	f.Raw = raw
	return Message{Frame: f, Kind: kind, Method: TextOf(e.Method), ID: string(e.ID), Params: e.Params}
}

// share lists a message with the call on whose stream it came, or with every
// call in flight.
func (s *Session) share(m Message) {
	if k := s.callOf(m.Stream); k != nil && (!k.listening || m.Method == ListenAcknowledged) {
		k.keep(m, &s.lim)
		s.journal.add(m)
		return
	}
	m.Shared = len(s.pending)+len(s.raws) > 1
	for _, k := range s.pending {
		if !k.listening {
			k.keep(m, &s.lim)
		}
	}
	for _, k := range s.raws {
		k.keep(m, &s.lim)
	}
	s.journal.add(m)
}

// checkMethod notes wrong types of the members of a request or notification.
// It reports whether the message can be used.
func (s *Session) checkMethod(e *Envelope, raw []byte, f Frame) bool {
	if KindOf(e.Method) != jsonv.KindString {
		s.flag(BadMessage, `"method" is `+KindOf(e.Method).WithArticle()+", not a string", raw, f)
		return false
	}
	if e.Has&HasParams != 0 && KindOf(e.Params) != jsonv.KindObject {
		s.flag(BadMessage, `"params" is `+KindOf(e.Params).WithArticle()+", not an object", raw, f)
	}
	if e.IsResponse() {
		s.flag(BadMessage, "a message with both a method and "+memberNames(e.Has&(HasResult|HasError)), raw, f)
	}
	return true
}

// progressCall finds the call of a progress notification.
func (s *Session) progressCall(e *Envelope, f Frame) *call {
	token := MemberOf(e.Params, "progressToken")
	if token == nil {
		s.flag(ProgressToken, "a progress notification without a progressToken", e.Params, f)
		return nil
	}
	var near *call
	for _, k := range s.pending {
		if k.token == nil {
			continue
		}
		if bytes.Equal(k.token, token) || KindOf(token) == jsonv.KindString && TextOf(token) == TextOf(k.token) && TextOf(token) != "" {
			return k
		}
		if bytes.Equal(bytes.Trim(token, `"`), bytes.Trim(k.token, `"`)) {
			near = k
		}
	}
	if near != nil {
		s.flag(ProgressToken, fmt.Sprintf("progressToken is %s, the request had %s", Excerpt(token), Excerpt(near.token)), e.Params, f)
		return near
	}
	// A token of a call that is over may still be on its way.
	if !s.in.tokens.has(string(token)) {
		s.flag(ProgressToken, "progressToken is "+Excerpt(token)+", which no request had", e.Params, f)
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
func (s *Session) request(raw []byte, e *Envelope, f Frame) {
	if n, ok := ownID(e.ID); ok {
		if k := s.pending[n]; k != nil && bytes.Equal(raw, k.x.Request) {
			s.flag(Echo, "the server sent our own request back", raw, f)
			s.settle(k.x.ID, k)
			s.unusable(k, raw, f.At, Echo, "the server sent the request itself back instead of an answer")
			return
		}
	}
	usable := s.checkMethod(e, raw, f)
	if d := s.dialect.Load(); d != nil && d.Stateless {
		s.flag(BadMessage, "a request of the server, which protocol revision "+d.Revision+" does not have", raw, f)
		usable = false
	}
	if t := KindOf(e.ID); t != jsonv.KindString && !isInteger(e.ID) {
		s.flag(BadMessage, "a request with the id "+Excerpt(e.ID), raw, f)
		usable = usable && t == jsonv.KindNumber
	}
	if s.asked[string(e.ID)] != nil {
		s.flag(BadMessage, "a second request with the id "+Excerpt(e.ID)+" while the first is being answered", raw, f)
		usable = false
	} else if len(s.asked) >= s.lim.Requests {
		s.flag(Flood, fmt.Sprintf("more than %d requests of the server at once: not answered", s.lim.Requests), raw, f)
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
	for id, k := range s.pending {
		to = append(to, id)
		if k.answer != nil && (oldest == 0 || id < oldest) {
			oldest, answer = id, k.answer
		}
	}
	if k := s.callOf(f.Stream); k != nil {
		to = []int64{k.id}
	}
	ctx, cancel := context.WithCancel(s.ctx)
	s.asked[m.ID] = cancel
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
	var rpcErr *RPCError
	switch {
	case m.Method == "ping":
		result = []byte("{}")
	case answer != nil:
		result, rpcErr = answer(ctx, m.Method, m.Params)
	}
	if result == nil && rpcErr == nil {
		rpcErr = &RPCError{Code: CodeMethodNotFound, Message: "Method not found"}
	}
	raw, at := AppendResponse(nil, []byte(m.ID), result, rpcErr)
	a := Message{
		Frame: Frame{Dir: ToServer, At: now(), Raw: raw, Stream: m.Stream}, Kind: KindAnswer, Method: m.Method, ID: m.ID,
		Params: raw[at : len(raw)-1], Shared: m.Shared,
	}
	s.mu.Lock()
	delete(s.asked, m.ID)
	if ctx.Err() != nil {
		s.mu.Unlock()
		return
	}
	for _, id := range to {
		if k := s.pending[id]; k != nil {
			k.keep(a, &s.lim)
		}
	}
	s.journal.add(a)
	s.mu.Unlock()
	out := Outgoing{Raw: raw, ID: m.ID, Protocol: s.revision()}
	_ = s.t.Send(ctx, out) // a server that does not take it shows that by its end
}

// cancelAsked ends the answer to a request that the server has given up.
func (s *Session) cancelAsked(params []byte) {
	if cancel := s.asked[string(MemberOf(params, "requestId"))]; cancel != nil {
		cancel()
	}
}

// AppendResponse builds an answer frame and returns where its result or error begins.
func AppendResponse(raw, id, result []byte, e *RPCError) (out []byte, at int) {
	raw = append(raw, `{"jsonrpc":"2.0","id":`...)
	raw = append(raw, id...)
	if e == nil {
		raw = append(raw, `,"result":`...)
		at = len(raw)
		return append(appendLine(raw, result), '}'), at
	}
	raw = append(raw, `,"error":`...)
	at = len(raw)
	raw = append(raw, `{"code":`...)
	raw = append(raw, idText(e.Code)...)
	raw = append(raw, `,"message":`...)
	raw = jsonv.AppendString(raw, e.Message)
	if e.Data != nil {
		raw = append(raw, `,"data":`...)
		raw = appendLine(raw, e.Data)
	}
	return append(raw, '}', '}'), at
}
