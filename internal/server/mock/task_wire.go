package mock

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
	"mcptest/internal/server/manifest"
	"mcptest/internal/server/mcpserver"
)

// relatedTask is the key of _meta that identifies a task in a session.
const relatedTask = "io.modelcontextprotocol/related-task"

// wantsTask decides whether a call is answered with a task. The client of a session
// requests it with params.task; otherwise the server decides.
func (sc *scope) wantsTask(t *manifest.Tool) (bool, *mcpserver.Reply) {
	if sc.req.Caller != nil {
		switch {
		case t.Task == nil:
			return false, nil
		case t.Task.Required && !sc.knowsTasks():
			return false, needsTasks()
		}
		return sc.knowsTasks(), nil
	}
	if !sc.knowsTasks() || !sc.sess.server.m.HasTasks() { // then a task that is asked for is ignored
		return false, nil
	}
	asked := sc.params.Lookup("task").Kind() == jsonv.KindObject
	switch {
	case t.Task == nil && asked:
		return false, mcpserver.Failure(protocol.CodeMethodNotFound, "Tool %s does not support tasks", t.Name)
	case t.Task != nil && t.Task.Required && !asked:
		return false, mcpserver.Failure(protocol.CodeMethodNotFound, "Tool %s must be called as a task", t.Name)
	}
	return asked, nil
}

// needsTasks returns the refusal for a client that did not declare the extension.
func needsTasks() *mcpserver.Reply {
	r := mcpserver.Failure(protocol.CodeMissingCapability, "the client does not support %s", tasksExtension)
	r.Error.Data = jsonv.ObjectOf("requiredCapabilities", jsonv.ObjectOf("extensions", jsonv.ObjectOf(tasksExtension, jsonv.Object()))).Append(nil)
	return r
}

// detach continues a call in the background and responds with its task.
func (s *Session) detach(
	sc *scope, support *manifest.TaskSupport, rest func(ctx context.Context, sc *scope) *mcpserver.Reply,
) *mcpserver.Reply {
	srv := s.server
	ctx, stop := context.WithCancel(srv.ctx)
	asked := sc.params.Lookup("task", "ttl")
	if sc.req.Caller == nil && asked.Kind() == jsonv.KindNumber {
		if ms, ok := asked.Int64(); ok && ms > 0 {
			own := *support
			own.TTL = min(own.TTL, time.Duration(ms)*time.Millisecond)
			support = &own
		}
	}
	t := srv.tasks.begin(support, stop, sc.tellOf)
	own := *sc
	own.task = t
	created := sc.replyCreated(t) // before it continues: its first status is always "working"
	srv.wg.Go(func() {
		defer stop()
		t.finish(rest(ctx, &own))
	})
	return created
}

// replyCreated returns the response to a call that became a task.
func (sc *scope) replyCreated(t *task) *mcpserver.Reply {
	t.mu.Lock()
	defer t.mu.Unlock()
	if sc.req.Caller == nil {
		return answer(jsonv.ObjectOf("task", t.session()))
	}
	return answer(t.stateless("task"))
}

// tellOf sends the status of a task to its client: to a session, or to its
// subscribers. It is not an error if there are none.
func (sc *scope) tellOf(t *task) {
	if sc.req.Caller != nil {
		_ = sc.req.Notify("notifications/tasks", t.detail().Append(nil))
		return
	}
	t.mu.Lock()
	now := t.session()
	t.mu.Unlock()
	_ = sc.req.Notify("notifications/tasks/status", now.Append(nil))
}

func stamp(t time.Time) jsonv.Value { return jsonv.String(t.UTC().Format("2006-01-02T15:04:05.000Z")) }

// stateless returns a task in revisions without sessions, with the type of a result if it
// has one. The caller holds mu.
func (t *task) stateless(resultType string) jsonv.Value {
	var typ jsonv.Value // absent: the task is not a result
	if resultType != "" {
		typ = jsonv.String(resultType)
	}
	return jsonv.ObjectOf(
		"resultType", typ,
		"taskId", t.id,
		"status", t.status,
		"createdAt", stamp(t.created),
		"lastUpdatedAt", stamp(t.updated),
		"ttlMs", t.support.TTL.Milliseconds(),
		"pollIntervalMs", t.support.Poll.Milliseconds(),
	)
}

// session returns a task for a session, where a tool's own failure is a failure of
// the task. The caller holds mu.
func (t *task) session() jsonv.Value {
	status := t.status
	if status == completed && parseKnown(t.reply.Result).Lookup("isError").Bool() {
		status = failed
	}
	return jsonv.ObjectOf(
		"taskId", t.id,
		"status", status,
		"createdAt", stamp(t.created),
		"lastUpdatedAt", stamp(t.updated),
		"ttl", t.support.TTL.Milliseconds(),
		"pollInterval", t.support.Poll.Milliseconds(),
	)
}

// detail returns the members of a response to tasks/get without a session: the task
// and its questions or outcome.
func (t *task) detail() jsonv.Value {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := t.stateless("")
	switch {
	case t.status == needInput:
		var open []jsonv.Member
		for _, q := range t.open {
			open = append(open, jsonv.Member{Key: q.Key, Value: jsonv.ObjectOf("method", q.Method, "params", paramsOf(q))})
		}
		out = out.With("inputRequests", jsonv.Object(open...))
	case t.status == completed:
		out = out.With("result", parseKnown(t.reply.Result))
	case t.status == failed:
		e := t.reply.Error
		out = out.With("error", jsonv.ObjectOf("code", e.Code, "message", e.Message, "data", parseKnown(e.Data)))
	}
	return out
}

// paramsOf returns the params of a question, an empty object if it has none.
func paramsOf(q mcpserver.Question) jsonv.Value {
	if q.Params == nil {
		return jsonv.Object()
	}
	return parseKnown(q.Params)
}

// aboutTasks answers the methods of tasks. It returns nil for a method that the
// client's revision does not have.
func (s *Session) aboutTasks(ctx context.Context, sc *scope) *mcpserver.Reply {
	verb, ok := strings.CutPrefix(sc.req.Method, "tasks/")
	if !ok || !s.server.m.HasTasks() {
		return nil
	}
	stateless := sc.req.Caller != nil
	switch {
	case stateless && !slices.Contains([]string{"get", "update", "cancel"}, verb):
		return nil
	case !stateless && !slices.Contains([]string{"get", "result", "list", "cancel"}, verb):
		return nil
	case !stateless && !sc.knowsTasks():
		return nil
	case stateless && !sc.knowsTasks():
		return needsTasks()
	case verb == "list":
		return list(s.server.m, sc.params, "tasks", s.server.tasks.list(), func(t *task) jsonv.Value {
			t.mu.Lock()
			defer t.mu.Unlock()
			return t.session()
		})
	}
	id := sc.params.Lookup("taskId").Text()
	t := s.server.tasks.find(id)
	if t == nil {
		return mcpserver.Failure(protocol.CodeInvalidParams, "Unknown task: %s", id)
	}
	if stateless {
		return t.modern(verb, sc)
	}
	return t.legacy(ctx, verb, sc)
}

// modern answers a method of tasks without a session.
func (t *task) modern(verb string, sc *scope) *mcpserver.Reply {
	switch verb {
	case "update":
		given := sc.params.Lookup("inputResponses")
		if given.Kind() != jsonv.KindObject {
			return mcpserver.Failure(protocol.CodeInvalidParams, "inputResponses must be an object, got %s", given.Kind())
		}
		t.answer(given)
	case "cancel":
		t.cancel()
	default:
		return answer(t.detail())
	}
	return answer(jsonv.Object())
}

// legacy answers a method of tasks in a session.
func (t *task) legacy(ctx context.Context, verb string, sc *scope) *mcpserver.Reply {
	switch verb {
	case "cancel":
		if !t.cancel() {
			return mcpserver.Failure(protocol.CodeInvalidParams, "Task %s has already ended", t.id)
		}
	case "result":
		return t.result(ctx, sc)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return answer(t.session())
}

// result waits for the end of a task and returns the reply of its tool. Questions of
// the task in the meantime are sent to the client here.
func (t *task) result(ctx context.Context, sc *scope) *mcpserver.Reply {
	related := jsonv.ObjectOf(relatedTask, jsonv.ObjectOf("taskId", t.id))
	for {
		open, err := t.pending(ctx)
		switch {
		case err != nil:
			return nil
		case len(open) == 0:
			return t.outcome(related)
		}
		qs := slices.Clone(open)
		for i, q := range qs {
			qs[i].Params = paramsOf(q).With("_meta", related).Append(nil)
		}
		got, err := sc.req.AskAll(ctx, qs)
		_, ok := errors.AsType[*protocol.RPCError](err)
		switch {
		case ok:
			t.stop()
			t.finish(toolFailure("%v", err))
			continue
		case err != nil:
			return nil
		}
		given := make([]jsonv.Member, len(qs))
		for i, q := range qs {
			given[i] = jsonv.Member{Key: q.Key, Value: got[i]}
		}
		t.answer(jsonv.Object(given...))
	}
}

// outcome returns the reply of the tool of a task that is over.
func (t *task) outcome(related jsonv.Value) *mcpserver.Reply {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.reply == nil:
		return mcpserver.Failure(protocol.CodeInvalidParams, "Task %s was cancelled", t.id)
	case t.reply.Error != nil:
		return t.reply
	}
	v := parseKnown(t.reply.Result)
	return answer(v.With("_meta", v.Lookup("_meta").With(relatedTask, related.Lookup(relatedTask))))
}
