package mock

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
	"mcptest/internal/server/mcpserver"
)

// errStop ends a response without sending it: the client canceled the request, or the
// process is about to end.
var errStop = errors.New("no response")

// play runs the steps of the matching response and builds the reply.
func (s *Session) play(ctx context.Context, sc *scope, r *response, result resultOf) *mcpserver.Reply {
	r = r.choose(sc.root, s.server.world.turn)
	if r == nil {
		return s.missing(sc)
	}
	if bad, ended := s.steps(ctx, sc, r.steps); ended {
		return bad
	}
	return replyOf(sc, r, result)
}

// missing answers a request that no response matches.
func (s *Session) missing(sc *scope) *mcpserver.Reply {
	if sc.req.Method == "tools/call" {
		return toolFailure("%s", unfit(sc))
	}
	return failure(protocol.CodeInternal, "%s", unfit(sc))
}

// steps runs the steps in order. ended reports that nothing follows; reply is then
// the message to send, or nil for none.
func (s *Session) steps(ctx context.Context, sc *scope, steps []*step) (reply *mcpserver.Reply, ended bool) {
	for _, st := range steps {
		err := s.step(ctx, sc, st)
		var rpc *protocol.RPCError
		switch {
		case errors.Is(err, errStop) || ctx.Err() != nil:
			return nil, true
		case sc.req.Caller != nil && errors.As(err, &rpc) && rpc.Code == protocol.CodeMissingCapability:
			return &mcpserver.Reply{Error: rpc}, true
		case err != nil && sc.req.Method == "tools/call":
			return toolFailure("%v", err), true
		case err != nil:
			return failure(protocol.CodeInternal, "%v", err), true
		}
	}
	return nil, false
}

// replyOf builds the message for a response.
func replyOf(sc *scope, r *response, result resultOf) *mcpserver.Reply {
	switch {
	case r.raw != nil:
		return &mcpserver.Reply{Raw: r.raw.bytes(sc.root)}
	case r.err != nil:
		e := &protocol.RPCError{Code: r.err.code, Message: r.err.message.text(sc.root)}
		if data := r.err.data.eval(sc.root); !data.IsAbsent() {
			e.Data = data.Append(nil)
		}
		return &mcpserver.Reply{Error: e}
	case r.result != nil:
		return answer(orNull(r.result.eval(sc.root)))
	}
	return answer(result(sc.root, r))
}

func orNull(v jsonv.Value) jsonv.Value {
	if v.IsAbsent() {
		return jsonv.Null()
	}
	return v
}

// step runs one step. Its error is reported to the client, except errStop.
func (s *Session) step(ctx context.Context, sc *scope, st *step) error {
	switch {
	case st.delay != nil:
		return s.pause(ctx, sc, st.delay)
	case st.log != nil:
		return s.log(sc, st.log)
	case st.progress != nil:
		return progress(sc, st.progress)
	case st.notify != nil:
		return notify(sc, st.notify.method, st.notify.params)
	case st.ask != nil:
		return s.ask(ctx, sc, st.ask)
	case st.set != nil || st.push != nil:
		s.assign(sc, st)
	case st.updated != nil:
		return s.updated(sc, st.updated.text(sc.root))
	case st.write != nil:
		return lost(sc, sc.req.WriteRaw(st.write.bytes(sc.root)))
	case st.stderr != nil:
		s.server.logLine(st.stderr.text(sc.root))
	case st.exit != nil:
		s.server.exit(*st.exit)
		return errStop
	case st.hang:
		s.hang(ctx)
		return errStop
	}
	return nil
}

// lost turns a failed write into errStop: the client has disconnected. The client of
// a task may have disconnected too, since its call already has a response.
func lost(sc *scope, err error) error {
	if err != nil && sc.task == nil {
		return errStop
	}
	return nil
}

func (s *Session) pause(ctx context.Context, sc *scope, p *pause) error {
	d, err := p.of(sc.root)
	if err == nil && !sleep(ctx, d) {
		return errStop
	}
	return err
}

func (s *Session) log(sc *scope, l *logMessage) error {
	if slices.Index(logLevels, l.level) < sc.level() {
		return nil
	}
	logger := jsonv.Value{}
	if l.logger != "" {
		logger = jsonv.String(l.logger)
	}
	params := jsonv.ObjectOf("level", l.level, "logger", logger, "data", orNull(l.data.eval(sc.root)))
	return lost(sc, sc.req.Notify("notifications/message", params.Append(nil)))
}

// progress sends progress only to a client that gave a token.
func progress(sc *scope, t *template) error {
	if sc.token.IsAbsent() {
		return nil
	}
	members := []jsonv.Member{{Key: "progressToken", Value: sc.token}}
	for key, v := range t.eval(sc.root).Members() {
		members = append(members, jsonv.Member{Key: key, Value: v})
	}
	return lost(sc, sc.req.Notify("notifications/progress", jsonv.Object(members...).Append(nil)))
}

func notify(sc *scope, method string, params *template) error {
	var raw []byte
	if params != nil {
		raw = orNull(params.eval(sc.root)).Append(nil)
	}
	return lost(sc, sc.req.Notify(method, raw))
}

func (s *Session) updated(sc *scope, uri string) error {
	if sc.req.Caller == nil { // otherwise the connection knows the subscribers
		s.mu.Lock()
		wanted := s.subscribed[uri]
		s.mu.Unlock()
		if !wanted {
			return nil
		}
	}
	params := jsonv.ObjectOf("uri", uri)
	return lost(sc, sc.req.Notify("notifications/resources/updated", params.Append(nil)))
}

// ask sends questions to the client if it declared that it can answer them.
func (s *Session) ask(ctx context.Context, sc *scope, asks []*question) error {
	var questions []mcpserver.Question
	for _, q := range asks {
		if !sc.declared(q.needs) {
			if q.optional {
				continue
			}
			if sc.req.Caller == nil || sc.task != nil {
				return fmt.Errorf("the client does not support %s", q.needs)
			}
		}
		one := mcpserver.Question{Key: q.as, Method: q.method}
		if q.params != nil {
			one.Params = q.params.eval(sc.root).Append(nil)
		}
		questions = append(questions, one)
	}
	askAll := sc.req.AskAll
	if sc.task != nil {
		askAll = sc.task.ask
	}
	got, err := askAll(ctx, questions)
	if ctx.Err() != nil {
		return errStop
	}
	if err != nil {
		return err
	}
	for i, q := range questions {
		sc.asks = sc.asks.With(q.Key, got[i])
	}
	if sc.task == nil {
		sc.token = parsed(sc.req.Params).Lookup("_meta", "progressToken")
	}
	return nil
}

// assign changes the state. The values are computed while no other request can change
// it, so that a counter counts every call.
func (s *Session) assign(sc *scope, st *step) {
	s.server.world.change(func(now jsonv.Value) jsonv.Value {
		defer func() { sc.held = nil }()
		for _, a := range append(st.set, st.push...) {
			sc.held = &now
			keys := make([]string, len(a.keys))
			for i, k := range a.keys {
				keys[i] = k.text(sc.root)
			}
			v := a.to.eval(sc.root)
			if st.push != nil {
				v = pushed(now.Lookup(keys...), v)
			}
			now = put(now, keys, v)
		}
		return now
	})
}

// maxPushed bounds the length of a list in the state.
const maxPushed = 100_000

func pushed(list, v jsonv.Value) jsonv.Value {
	items := list.List()
	if len(items) >= maxPushed {
		items = items[1:]
	}
	return jsonv.Array(append(items, v)...)
}
