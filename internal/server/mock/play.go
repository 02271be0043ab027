package mock

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
	"mcptest/internal/client/protocol"
	"mcptest/internal/server/manifest"
	"mcptest/internal/server/mcpserver"
)

// play runs the steps of the matching response and builds the reply.
func (s *Session) play(ctx context.Context, sc *scope, r *manifest.Response, result manifest.ResultOf) *mcpserver.Reply {
	r = r.Choose(sc.root, s.server.world.turn)
	if r == nil {
		return s.missing(sc)
	}
	if bad, ended := s.steps(ctx, sc, r.Steps); ended {
		return bad
	}
	return replyOf(sc, r, result)
}

// missing answers a request that no response matches.
func (s *Session) missing(sc *scope) *mcpserver.Reply {
	if sc.req.Method == "tools/call" {
		return toolFailure("%s", unfit(sc))
	}
	return mcpserver.Failure(protocol.CodeInternal, "%s", unfit(sc))
}

// steps runs the steps in order. ended reports that nothing follows; reply is then
// the message to send, or nil for none.
func (s *Session) steps(ctx context.Context, sc *scope, steps []*manifest.Step) (reply *mcpserver.Reply, ended bool) {
	for _, st := range steps {
		err := s.step(ctx, sc, st)
		rpc, ok := errors.AsType[*protocol.RPCError](err)
		switch {
		case errors.Is(err, errStop) || ctx.Err() != nil:
			return nil, true
		case sc.req.Caller != nil && ok && rpc.Code == protocol.CodeMissingCapability:
			return &mcpserver.Reply{Error: rpc}, true
		case err != nil && sc.req.Method == "tools/call":
			return toolFailure("%v", err), true
		case err != nil:
			return mcpserver.Failure(protocol.CodeInternal, "%v", err), true
		}
	}
	return nil, false
}

// replyOf builds the message for a response.
func replyOf(sc *scope, r *manifest.Response, result manifest.ResultOf) *mcpserver.Reply {
	switch {
	case r.HTTP != nil:
		return httpFault(sc, r.HTTP)
	case r.Raw != nil:
		return &mcpserver.Reply{Raw: r.Raw.Bytes(sc.root)}
	case r.Err != nil:
		e := &protocol.RPCError{Code: r.Err.Code, Message: r.Err.Message.Text(sc.root)}
		if data := r.Err.Data.Eval(sc.root); !data.IsAbsent() {
			e.Data = data.Append(nil)
		}
		return &mcpserver.Reply{Error: e}
	case r.Result != nil:
		return answer(r.Result.Eval(sc.root).OrNull())
	}
	return answer(result(sc.root, r))
}

// httpFault returns an answer of HTTP. Over stdio the client gets an error that says so.
func httpFault(sc *scope, f *manifest.HTTPFault) *mcpserver.Reply {
	reply := mcpserver.Failure(protocol.CodeInternal, "%s", faultText(f))
	out := &mcpserver.HTTPFault{Status: f.Status, Header: http.Header{}, Drop: f.Drop, Expire: f.Expire}
	for _, h := range f.Header {
		out.Header.Add(h[0], h[1])
	}
	if f.Body != nil {
		out.Body = []byte(f.Body.Text(sc.root))
	} else {
		out.Body, _ = protocol.AppendResponse(nil, sc.req.ID, nil, reply.Error)
	}
	reply.HTTP = out
	return reply
}

func faultText(f *manifest.HTTPFault) string {
	switch {
	case f.Drop:
		return "the mock drops the connection here, which only HTTP has"
	case f.Expire:
		return "Session not found"
	}
	return fmt.Sprintf("HTTP %d %s", f.Status, http.StatusText(f.Status))
}

// step runs one step. Its error is reported to the client, except errStop.
func (s *Session) step(ctx context.Context, sc *scope, st *manifest.Step) error {
	switch {
	case st.Delay != nil:
		return s.pause(ctx, sc, st.Delay)
	case st.Log != nil:
		return s.log(sc, st.Log)
	case st.Progress != nil:
		return progress(sc, st.Progress)
	case st.Notify != nil:
		return notify(sc, st.Notify.Method, st.Notify.Params)
	case st.Ask != nil:
		return s.ask(ctx, sc, st.Ask)
	case st.Set != nil || st.Push != nil:
		s.assign(sc, st)
	case st.Updated != nil:
		return s.sendUpdated(sc, st.Updated.Text(sc.root))
	case st.Write != nil:
		return stopIfLost(sc, sc.req.WriteRaw(st.Write.Bytes(sc.root)))
	case st.Stderr != nil:
		s.server.logLine(st.Stderr.Text(sc.root))
	case st.Exit != nil:
		s.server.exit(*st.Exit)
		return errStop
	case st.Hang:
		s.hang(ctx)
		return errStop
	}
	return nil
}

// stopIfLost turns a failed write into errStop: the client has disconnected. The client of
// a task may have disconnected too, since its call already has a response.
func stopIfLost(sc *scope, err error) error {
	if err != nil && sc.task == nil {
		return errStop
	}
	return nil
}

func (s *Session) pause(ctx context.Context, sc *scope, p *manifest.Pause) error {
	d, err := p.Of(sc.root)
	if err == nil && !sleep(ctx, d) {
		return errStop
	}
	return err
}

func (s *Session) log(sc *scope, l *manifest.LogMessage) error {
	if slices.Index(manifest.LogLevels, l.Level) < sc.level() {
		return nil
	}
	data := l.Data.Eval(sc.root).OrNull()
	params := jsonv.ObjectOf("level", l.Level)
	if l.Logger != "" {
		params = params.With("logger", jsonv.String(l.Logger))
	}
	params = params.With("data", data)
	return stopIfLost(sc, sc.req.Notify("notifications/message", params.Append(nil)))
}

// progress sends progress only to a client that gave a token.
func progress(sc *scope, t *manifest.Template) error {
	if sc.token.IsAbsent() {
		return nil
	}
	members := []jsonv.Member{{Key: "progressToken", Value: sc.token}}
	for key, v := range t.Eval(sc.root).Members() {
		members = append(members, jsonv.Member{Key: key, Value: v})
	}
	return stopIfLost(sc, sc.req.Notify("notifications/progress", jsonv.Object(members...).Append(nil)))
}

func notify(sc *scope, method string, params *manifest.Template) error {
	if params == nil {
		return stopIfLost(sc, sc.req.Notify(method, nil))
	}
	return stopIfLost(sc, sc.req.Notify(method, params.Eval(sc.root).OrNull().Append(nil)))
}

func (s *Session) sendUpdated(sc *scope, uri string) error {
	if sc.req.Caller == nil { // otherwise the connection knows the subscribers
		s.mu.Lock()
		wanted := s.subscribed[uri]
		s.mu.Unlock()
		if !wanted {
			return nil
		}
	}
	return stopIfLost(sc, sc.req.Notify("notifications/resources/updated", jsonv.ObjectOf("uri", uri).Append(nil)))
}

// ask sends questions to the client if it declared that it can answer them.
func (s *Session) ask(ctx context.Context, sc *scope, asks []*manifest.Question) error {
	var questions []mcpserver.Question
	for _, q := range asks {
		if !sc.isDeclared(q.Needs) {
			if q.Optional {
				continue
			}
			if sc.req.Caller == nil || sc.task != nil {
				return fmt.Errorf("the client does not support %s", q.Needs)
			}
		}
		one := mcpserver.Question{Key: q.As, Method: q.Method}
		if q.Params != nil {
			one.Params = q.Params.Eval(sc.root).Append(nil)
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
		sc.token = parseKnown(sc.req.Params).Lookup("_meta", "progressToken")
	}
	return nil
}

// assign changes the state. The values are computed while no other request can change
// it, so that a counter counts every call.
func (s *Session) assign(sc *scope, st *manifest.Step) {
	s.server.world.change(func(now jsonv.Value) jsonv.Value {
		defer func() { sc.held = nil }()
		for _, a := range append(st.Set, st.Push...) {
			sc.held = &now
			keys := lists.Map(a.Keys, func(k *manifest.Template) string { return k.Text(sc.root) })
			v := a.To.Eval(sc.root)
			if st.Push != nil {
				v = pushValue(now.Lookup(keys...), v)
			}
			now = put(now, keys, v)
		}
		return now
	})
}

// maxPushed bounds the length of a list in the state.
const maxPushed = 100_000

func pushValue(list, v jsonv.Value) jsonv.Value {
	items := list.List()
	if len(items) >= maxPushed {
		items = items[1:]
	}
	return jsonv.Array(append(items, v)...)
}

// unfit returns the message for a request that no response matches.
func unfit(sc *scope) string {
	if sc.args.IsAbsent() {
		return fmt.Sprintf("the mock has no response that fits this %s", sc.req.Method)
	}
	return fmt.Sprintf("the mock has no response that fits the arguments %s", sc.args.Short(200))
}

// hang waits until the request is canceled or the connection ends.
func (s *Session) hang(ctx context.Context) *mcpserver.Reply {
	select {
	case <-ctx.Done():
	case <-s.gone:
	}
	return nil
}

// sleep waits for d and reports whether it elapsed before ctx was done.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
