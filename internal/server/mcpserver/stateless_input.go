package mcpserver

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
)

const (
	// abandoned is the time that a call waits for the client to return with the
	// requested input.
	abandoned = time.Minute
	// maxWaiting bounds the number of waiting calls.
	maxWaiting = 1000
)

// openRound is a stateless request that may stop to ask its client for input:
// its handler waits until the client repeats the request with the responses.
type openRound struct {
	s     *stateless
	req   *Request // seen by the handler; while the handler waits ID, Params and Caller change
	ctx   context.Context
	stop  context.CancelFunc
	asked chan asking
	done  chan *Reply
	early map[string][]byte // inputResponses of the first request: each is used once

	open   asking // the questions asked, while the call waits
	expire *time.Timer

	mu  sync.Mutex
	out responseWriter // of the current round, nil between rounds
}

// asking holds the questions of a handler and the destination of the responses.
type asking struct {
	questions []Question
	answers   chan map[string][]byte
}

// round starts a call, or continues one that waits for input.
func (s *stateless) round(ctx context.Context, out responseWriter, req *Request) {
	var responses map[string][]byte
	if protocol.AsksInput(req.Method) {
		var bad refused
		if responses, bad = inputResponses(req.Params); bad.err != nil {
			bad.tell(out, req.ID)
			return
		}
		if state := protocol.MemberOf(req.Params, "requestState"); state != nil {
			s.resume(ctx, out, req, protocol.TextOf(state), responses)
			return
		}
	}
	c := &openRound{s: s, req: req, asked: make(chan asking), done: make(chan *Reply, 1), early: responses}
	c.ctx, c.stop = context.WithCancel(s.ctx)
	c.req.conn = c
	c.use(out)
	h := s.handler()
	s.wg.Go(func() { c.done <- h.Handle(c.ctx, c.req) })
	c.wait(ctx, out, req.ID)
}

// inputResponses returns the responses in a request, nil for none.
func inputResponses(params []byte) (map[string][]byte, refused) {
	raw := protocol.MemberOf(params, "inputResponses")
	if raw == nil {
		return nil, refused{}
	}
	if protocol.KindOf(raw) != jsonv.KindObject {
		return nil, refuse(http.StatusOK, protocol.CodeInvalidParams, "inputResponses is %s, not an object", protocol.KindOf(raw).WithArticle())
	}
	out := map[string][]byte{}
	bad := refused{}
	_ = jsonv.VisitMembers(raw, func(k string, val []byte) error {
		if protocol.KindOf(val) != jsonv.KindObject {
			bad = refuse(http.StatusOK, protocol.CodeInvalidParams, "inputResponses[%q] is %s, not an object", protocol.Excerpt([]byte(k)), protocol.KindOf(val).WithArticle())
		}
		out[k] = bytes.Clone(val)
		return nil
	})
	return out, bad
}

// wait waits for the response, or for a question to the client.
func (c *openRound) wait(ctx context.Context, out responseWriter, id []byte) {
	select {
	case reply := <-c.done:
		c.stop()
		c.use(nil)
		reply = completeResult(c.req.Method, reply)
		web, overHTTP := out.(*eventOut)
		frame := reply.frame(id)
		switch {
		case overHTTP && reply != nil && reply.HTTP != nil:
			web.fault(reply.HTTP)
		case reply != nil && reply.Reset:
			out.reset()
		case frame == nil:
			out.end()
		default:
			out.last(frame, statusOf(reply))
		}
	case q := <-c.asked:
		c.use(nil)
		c.suspend(out, id, q)
	case <-ctx.Done():
		c.stop()
		c.use(nil)
		out.end()
	case <-c.ctx.Done():
		c.use(nil)
		out.end()
	}
}

// suspend responds with the questions and waits for the client to return.
func (c *openRound) suspend(out responseWriter, id []byte, q asking) {
	token := rand.Text()
	s := c.s
	s.mu.Lock()
	full := len(s.waiting) >= maxWaiting
	if !full && !s.gone {
		c.open = q
		s.waiting[token] = c
		c.expire = time.AfterFunc(abandoned, func() {
			if s.take(token, func(*openRound) bool { return true }) != nil {
				c.stop()
			}
		})
	} else {
		c.stop()
	}
	s.mu.Unlock()
	if full {
		refuse(http.StatusOK, protocol.CodeInternal, "%d calls are already waiting for the input of clients", maxWaiting).tell(out, id)
		return
	}
	requests := make([]jsonv.Member, len(q.questions))
	for i, one := range q.questions {
		p, err := jsonv.Parse(one.Params)
		if err != nil {
			p = jsonv.Object() // clients require params even when they are empty
		}
		requests[i] = jsonv.Member{Key: one.Key, Value: jsonv.ObjectOf("method", one.Method, "params", p)}
	}
	result := jsonv.ObjectOf("resultType", "input_required", "inputRequests", jsonv.Object(requests...), "requestState", token).Append(nil)
	out.last((&Reply{Result: result}).frame(id), http.StatusOK)
}

// take removes the call that waits under a token and returns it, or nil when there is
// none or fits returns false.
func (s *stateless) take(token string, fits func(*openRound) bool) *openRound {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.waiting[token]
	if c == nil || !fits(c) {
		return nil
	}
	delete(s.waiting, token)
	c.expire.Stop()
	return c
}

// resume continues a waiting call. Its state belongs to one request: in another
// request it is as invalid as an unknown state.
func (s *stateless) resume(ctx context.Context, out responseWriter, req *Request, token string, responses map[string][]byte) {
	name := protocol.NameOf(req.Method, req.Params)
	c := s.take(token, func(c *openRound) bool {
		return c.req.Method == req.Method && protocol.NameOf(req.Method, c.req.Params) == name
	})
	if c == nil {
		refuse(http.StatusOK, protocol.CodeInvalidParams, "unknown requestState: it was changed, used before, or belongs to another request").tell(out, req.ID)
		return
	}
	q := c.open
	c.req.ID, c.req.Params, c.req.Raw, c.req.Caller = req.ID, req.Params, req.Raw, req.Caller
	c.use(out)
	q.answers <- responses
	c.wait(ctx, out, req.ID)
}

// hangUp ends the calls and the subscriptions of a client that has disconnected.
func (s *stateless) hangUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = true
	for token, c := range s.waiting {
		delete(s.waiting, token)
		c.expire.Stop()
		c.stop()
	}
	for l := range s.listeners {
		delete(s.listeners, l)
		close(l.over)
	}
}

func (c *openRound) use(out responseWriter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out = out
}

func (c *openRound) present() (responseWriter, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.out == nil {
		return nil, errNoStream
	}
	return c.out, nil
}

// notify sends messages that belong to the request to the writer of its response, and
// changes to their subscribers.
func (c *openRound) notify(raw []byte) error {
	if method := protocol.TextOf(protocol.MemberOf(raw, "method")); isListened(method) {
		c.s.publish(method, raw)
		return nil
	}
	out, err := c.present()
	if err != nil {
		return err
	}
	return out.event(raw)
}

func (c *openRound) writeRaw(b []byte) error {
	out, err := c.present()
	if err != nil {
		return err
	}
	return out.raw(b)
}

// askAll asks until every question is answered: responses in the request
// count, and questions without a response are asked again.
func (c *openRound) askAll(ctx context.Context, qs []Question) ([]jsonv.Value, error) {
	if err := refuseUndeclared(c.req.Caller, qs); err != nil {
		return nil, err
	}
	got := map[string][]byte{}
	open := slices.DeleteFunc(slices.Clone(qs), func(q Question) bool {
		early, ok := c.early[q.Key]
		if ok {
			got[q.Key] = early
			delete(c.early, q.Key)
		}
		return ok
	})
	for len(open) > 0 {
		q := asking{open, make(chan map[string][]byte, 1)}
		select {
		case c.asked <- q:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		select {
		case answers := <-q.answers:
			open = slices.DeleteFunc(slices.Clone(open), func(q Question) bool {
				a, ok := answers[q.Key]
				if ok {
					got[q.Key] = a
				}
				return ok
			})
		case <-ctx.Done():
			return nil, errors.New("the client did not send the input")
		}
	}
	out := make([]jsonv.Value, len(qs))
	for i, q := range qs {
		v, err := jsonv.Parse(got[q.Key])
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

// refuseUndeclared refuses questions to a caller that did not declare the capability to
// answer them.
func refuseUndeclared(c *Caller, qs []Question) error {
	var missing []jsonv.Member
	for _, q := range qs {
		need := protocol.CapabilityOf(q.Method)
		if protocol.Undeclared(c.Capabilities, q.Method, q.Params) == "" {
			continue
		}
		if !slices.ContainsFunc(missing, func(m jsonv.Member) bool { return m.Key == need }) {
			missing = append(missing, jsonv.Member{Key: need, Value: jsonv.Object()})
		}
	}
	if missing == nil {
		return nil
	}
	return &protocol.RPCError{
		Code: protocol.CodeMissingCapability, Message: "the client does not support " + missing[0].Key,
		Data: jsonv.ObjectOf("requiredCapabilities", jsonv.Object(missing...)).Append(nil),
	}
}
