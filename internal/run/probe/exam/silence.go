package exam

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/syserr"
	"mcptest/internal/client/conn"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/run/probe/verdict"
)

// ruleUnanswered is the rule that every request gets a response.
const ruleUnanswered = "message-unanswered"

// answeredBefore is what a request breaks that got no response.
const answeredBefore = "%s got no response in %s; it was answered before"

// enoughSilence is how often a request is sent that gets no response: after that it is
// not waited for again, so that one silent method does not use up the time of the others.
const enoughSilence = 2

// repeatable is how many calls that were answered are asked again at the end.
const repeatable = 10

// memory is what a visit remembers of the requests that were answered, and of those that
// were not.
type memory struct {
	answered map[string]bool     // whether the answer was a result; absent: there was none
	late     map[string]bool     // whether the answer came after its time, behind an earlier call
	calls    []mcp.Call          // of tools, that got a result, the first ones
	latest   map[string]mcp.Call // of prompts, resources and completions, that got a result, by method

	silent map[string]int // by request
	hung   map[string]int // by tool: calls without a response

	session *mcp.Session             // that the next members are about
	here    map[string]time.Duration // what was answered in the session, and how long that took at most
	behind  bool                     // a call of the session has no response yet, and none was answered since
	lost    bool                     // a response did not come in a much longer time

	asked     bool // a list was asked for after a raw request got no response
	malformed bool // a request had arguments that are no object
}

func newMemory() memory {
	return memory{
		answered: map[string]bool{},
		late:     map[string]bool{},
		latest:   map[string]mcp.Call{},
		silent:   map[string]int{},
		hung:     map[string]int{},
	}
}

// isHopeless reports whether a request is not worth another wait: it was silent before, or its
// tool was, and this one has never been answered.
func (m *memory) isHopeless(key, tool string) bool {
	_, answered := m.answered[key]
	return m.silent[key] >= enoughSilence || m.hung[tool] >= enoughSilence && !answered
}

// enter notes in which session the next request is made. A server may be slow at the first
// request of each session.
func (m *memory) enter(sess *mcp.Session) {
	if m.session != sess {
		m.session, m.here, m.behind = sess, map[string]time.Duration{}, false
	}
}

// toolOf is the tool that a call calls, "" for another request.
func toolOf(call mcp.Call) string {
	if call.Method != methodCall {
		return ""
	}
	return "tool " + parseValue(call.Params).Lookup("name").Text()
}

// keyOf identifies a request: of a call, the same tool and arguments.
func keyOf(call mcp.Call) string {
	params, err := jsonv.Parse(call.Params)
	if err != nil {
		return call.Method
	}
	return call.Method + " " + params.Without("_meta").String()
}

// skippedError is why a request was not sent again.
type skippedError struct {
	method string
	after  time.Duration
}

func (e *skippedError) Error() string {
	return fmt.Sprintf("%s was not sent again, because it got no response in %s before", e.method, e.after)
}

// Once makes a call in the open session, examines what comes, and returns an exchange
// with a cause if no session can be opened or nothing comes.
func (v *Visit) Once(ctx context.Context, call mcp.Call) *mcp.Exchange {
	sess, err := v.Session(ctx)
	if err != nil {
		return &mcp.Exchange{Method: call.Method, Cause: err}
	}
	return v.Within(v.Reply, sess)(ctx, call)
}

// Within makes calls in a session, each with a time for its response. Every exchange is
// examined, whoever asked for it.
func (v *Visit) Within(limit time.Duration, sess *mcp.Session) func(context.Context, mcp.Call) *mcp.Exchange {
	return func(ctx context.Context, call mcp.Call) *mcp.Exchange {
		key := keyOf(call)
		if tool := toolOf(call); v.memory.isHopeless(key, tool) {
			return &mcp.Exchange{Method: call.Method, Cause: &skippedError{call.Method, v.Reply}}
		}
		v.memory.enter(sess)
		args := parseValue(call.Params).Lookup("arguments")
		v.memory.malformed = v.memory.malformed || !args.IsAbsent() && args.Kind() != jsonv.KindObject
		x := v.callWithin(ctx, sess, limit, call)
		if !v.Stdio() && wasReset(x) {
			x = v.repeatAfterReset(ctx, sess, limit, call, x)
		}
		switch {
		case x.Response != nil:
			v.remember(key, call, x)
		case hasRunOut(ctx, x) && limit >= v.Reply && call.Method != protocol.MethodListen:
			if tool := toolOf(call); tool != "" {
				v.memory.hung[tool]++
			}
			v.judgeSilence(ctx, sess, call, x)
		case ctx.Err() == nil && hasFailedInside(x):
			v.judgeInside(ctx, sess, limit, call, x)
		case ctx.Err() == nil && call.Method != protocol.MethodListen && hasNoMessage(x):
			subject := nameOf(x.Request)
			o := Broken(x, "%s got HTTP %d without a response in it: %v", subject, Status(x), x.Cause)
			v.enterAbout(ruleUnanswered, subject, o)
		}
		v.examine(x, sess)
		return x
	}
}

// hasNoMessage reports whether a request over HTTP succeeded, but what came is not its response:
// nothing, a page, broken JSON, two documents, or a stream that ends too early. An encoding
// that is not read here is no fault of the server.
func hasNoMessage(x *mcp.Exchange) bool {
	if len(x.Request) == 0 || !Served(x) || x.HTTP.Header.Get("Content-Encoding") != "" {
		return false
	}
	_, other := errors.AsType[*wire.HTTPError](x.Cause)
	_, early := errors.AsType[*wire.StreamError](x.Cause)
	return other || early
}

// callWithin makes one call with a time for its response.
func (v *Visit) callWithin(ctx context.Context, sess *mcp.Session, limit time.Duration, call mcp.Call) *mcp.Exchange {
	limited, cancel := mcp.WithLimit(ctx, "response", limit)
	defer cancel()
	return sess.Do(limited, call)
}

// hasRunOut reports whether a request got no response in its own time.
func hasRunOut(ctx context.Context, x *mcp.Exchange) bool {
	if limit, ok := errors.AsType[*conn.Limit](x.Cause); ok { // of a raw request
		return ctx.Err() == nil && limit.Name == "response"
	}
	late, ok := errors.AsType[*conn.TimeoutError](x.Cause)
	return ok && ctx.Err() == nil && strings.HasPrefix(late.Limit, "response")
}

// remember notes that a request was answered.
func (v *Visit) remember(key string, call mcp.Call, x *mcp.Exchange) {
	_, before := v.memory.answered[key]
	v.memory.answered[key] = v.memory.answered[key] || x.Result != nil
	v.memory.here[key] = max(v.memory.here[key], x.Elapsed)
	if call.Method == methodCall {
		v.memory.behind = false
	}
	isRepeatable := call.Method == methodCall && Fulfilled(x) && v.isQuick(x.Elapsed)
	if !before && isRepeatable && len(v.memory.calls) < repeatable {
		v.memory.calls = append(v.memory.calls, call)
	}
	if x.Result != nil && slices.Contains(listOtherKinds(), call.Method) {
		v.memory.latest[call.Method] = call
	}
}

// listOtherKinds returns the methods, besides lists and calls, of which one request is asked again.
func listOtherKinds() []string {
	return []string{"resources/read", "prompts/get", "completion/complete"}
}

// Answered reports whether a request with these parameters got a result before.
func (v *Visit) Answered(method string, params jsonv.Value) bool {
	return v.memory.answered[keyOf(mcp.Call{Method: method, Params: Text(params)})]
}

// A request is quick if its answer took a small part of the time for a response: the next one
// may take a few times as long.
const quickPart = 5

func (v *Visit) isQuick(took time.Duration) bool { return took*quickPart <= v.Reply }

// patience is how many times the time for a response is waited for, once more, while an earlier
// call may still keep the server busy.
const patience = 3

// judgeSilence judges a request that got no response in its time. It breaks a rule if the
// same request was answered quickly before, or if a cheap one stays unanswered after it;
// otherwise the server may only be slow. A server may handle its calls one after the other:
// as long as one of them has no response, the others get more time.
func (v *Visit) judgeSilence(ctx context.Context, sess *mcp.Session, call mcp.Call, x *mcp.Exchange) {
	key, behind := keyOf(call), v.memory.behind
	v.memory.silent[key]++
	v.memory.behind = behind || call.Method == methodCall
	subject := nameOf(x.Request)
	slow := Unverified("%s: no answer in %s", subject, v.Reply)
	took, answered := v.memory.here[key]
	switch {
	case answered && !v.isQuick(took):
		v.enterAbout(ruleUnanswered, subject, slow)
		return
	case answered && behind && !v.memory.lost && !v.mustNotRepeat(call):
		v.awaitTurn(ctx, sess, call, x)
		return
	case answered:
		v.enterAbout(ruleUnanswered, subject, Broken(x, answeredBefore, subject, v.Reply))
		return
	}
	cheap := mcp.Call{Method: v.Idle()}
	if cheap.Method == x.Method {
		cheap.Method = v.FirstList()
	}
	if cheap.Method == x.Method || !sess.Alive() {
		v.enterAbout(ruleUnanswered, subject, slow)
		return
	}
	limit := v.Reply
	if call.Method == methodCall && !v.memory.lost {
		limit = v.waitLong(ctx)
	}
	after := v.callWithin(ctx, sess, limit, cheap)
	switch {
	case ctx.Err() != nil:
		v.enterAbout(ruleUnanswered, subject, Unverified(verdict.TimeReason+"%v", context.Cause(ctx)))
	case hasRunOut(ctx, after):
		v.memory.silent[key], v.memory.lost = enoughSilence, true
		v.enterAbout(ruleUnanswered, subject,
			Broken(x, "%s got no response in %s, and after that %s got none either", subject, v.Reply, cheap.Method))
	default:
		v.enterAbout(ruleUnanswered, subject, slow)
	}
	v.examine(after, sess)
}

// waitLong is the time for a response that may have to wait for an earlier one, but not more
// than half of what remains: other rules need the rest.
func (v *Visit) waitLong(ctx context.Context) time.Duration {
	long := patience * v.Reply
	if until, ok := ctx.Deadline(); ok {
		long = min(long, time.Until(until)/2)
	}
	return max(long, v.Reply)
}

// awaitTurn makes a call again that was answered before, and now got no response in its time
// while an earlier call had none either, and waits longer.
func (v *Visit) awaitTurn(ctx context.Context, sess *mcp.Session, call mcp.Call, x *mcp.Exchange) {
	key, subject := keyOf(call), nameOf(x.Request)
	limit := v.waitLong(ctx)
	again := v.callWithin(ctx, sess, limit, call)
	switch {
	case ctx.Err() != nil:
		v.enterAbout(ruleUnanswered, subject, Unverified(verdict.TimeReason+"%v", context.Cause(ctx)))
	case hasRunOut(ctx, again):
		v.memory.lost = true
		v.enterAbout(ruleUnanswered, subject, Broken(x, answeredBefore, subject, (v.Reply+limit).Round(time.Second)))
	default:
		v.memory.late[key], v.memory.behind = true, false
		o := Unverified("%s: no answer in %s, behind an earlier call", subject, v.Reply)
		v.enterAbout(ruleUnanswered, subject, o)
	}
	v.examine(again, sess)
}

// hasFailedInside reports whether a request over HTTP failed inside of the server, and got no
// response of JSON-RPC.
func hasFailedInside(x *mcp.Exchange) bool {
	return Status(x) == http.StatusInternalServerError && RPCError(x) == nil
}

// judgeInside makes a request again that failed inside of the server: one that never gets
// another answer has no response.
func (v *Visit) judgeInside(
	ctx context.Context, sess *mcp.Session, limit time.Duration, call mcp.Call, x *mcp.Exchange,
) {
	subject := nameOf(x.Request)
	if v.mustNotRepeat(call) {
		v.enterAbout(ruleUnanswered, subject, Unverified("%s got HTTP 500, and must not be called again", subject))
		return
	}
	again := v.callWithin(ctx, sess, limit, call)
	if hasFailedInside(again) {
		v.enterAbout(ruleUnanswered, subject, Broken(x, "%s got HTTP 500 twice, without a response in it", subject))
	}
	v.examine(again, sess)
}

// wasReset reports whether a connection ended without a response.
func wasReset(x *mcp.Exchange) bool {
	return errors.Is(x.Cause, io.EOF) || errors.Is(x.Cause, io.ErrUnexpectedEOF) ||
		syserr.Is(x.Cause, syscall.ECONNRESET) || syserr.Is(x.Cause, syscall.EPIPE)
}

// repeatAfterReset makes a request again whose connection was reset: a connection that is used
// again may have been closed meanwhile. One that is reset twice, or after which nothing
// listens any more, has no response.
func (v *Visit) repeatAfterReset(
	ctx context.Context, sess *mcp.Session, limit time.Duration, call mcp.Call, first *mcp.Exchange,
) *mcp.Exchange {
	subject := nameOf(first.Request)
	if v.mustNotRepeat(call) {
		v.enterAbout(ruleUnanswered, subject, Unverified("%s got no response, and must not be called again: %v", subject, first.Cause))
		return first
	}
	again := v.callWithin(ctx, sess, limit, call)
	switch {
	case again.Response != nil || ctx.Err() != nil:
	case wasReset(again):
		v.enterAbout(ruleUnanswered, subject, Broken(first, "%s got no response twice: %v", subject, again.Cause))
	case syserr.Is(again.Cause, syscall.ECONNREFUSED):
		v.enterAbout(ruleUnanswered, subject, Broken(first, "%s got no response, and the server is gone: %v", subject, again.Cause))
		return first
	}
	return again
}

func parseValue(raw []byte) jsonv.Value {
	value, _ := jsonv.Parse(raw)
	return value
}

// Idle is a request that does nothing; one that is never answered is not used for it.
func (v *Visit) Idle() string {
	method := "ping"
	if v.Modern() {
		method = protocol.MethodDiscover
	}
	if v.memory.silent[keyOf(mcp.Call{Method: method})] > 0 {
		return v.FirstList()
	}
	return method
}

// FirstList is a list that the server returns; without one, the request that does nothing.
func (v *Visit) FirstList() string {
	for _, l := range v.Listed {
		if l.Pages[0].Result != nil {
			return l.Method
		}
	}
	if v.Modern() {
		return protocol.MethodDiscover
	}
	return "ping"
}

// AskAgain sends once more, at the end, what was answered before: the idle request, each
// list, some calls, and one request of each other kind. Then it leaves the process alone for
// a while, and asks whether it is still there. Only no answer, or an internal error in place
// of a result, fails.
func (v *Visit) AskAgain(ctx context.Context) {
	idle := mcp.Call{Method: v.Idle()}
	calls := []mcp.Call{idle}
	for _, l := range v.Listed {
		if l.Pages[0].Result != nil {
			calls = append(calls, mcp.Call{Method: l.Method})
		}
	}
	calls = append(calls, v.memory.calls...)
	for _, method := range listOtherKinds() {
		if call, ok := v.memory.latest[method]; ok {
			calls = append(calls, call)
		}
	}
	asked := 0
	for _, call := range calls {
		asked += v.askOnceMore(ctx, call)
	}
	v.pause(ctx)
	asked += v.askOnceMore(ctx, idle)
	if asked == 0 {
		v.Enter(Unverified("nothing that was answered before could be asked again"), answeredAgain)
	}
}

// answeredAgain is the rule that what was answered is answered at the end, too.
const answeredAgain = "message-answered-again"

// askOnceMore repeats a request that was answered before, and returns how many it sent.
func (v *Visit) askOnceMore(ctx context.Context, call mcp.Call) int {
	if !v.memory.answered[keyOf(call)] || v.mustNotRepeat(call) {
		return 0
	}
	v.Check(ctx, answeredAgain, nameOfCall(call), func(ctx context.Context) Outcome { return v.repeatAnswered(ctx, call) })
	return 1
}

// How long a process is left alone, to see whether it ends by itself: once long enough for
// what a server does in the background after its start, and shorter in a further era.
const (
	firstQuiet   = 3 * time.Second
	furtherQuiet = time.Second
)

// pause leaves a process alone for a moment: one that ends after a pause is noticed.
func (v *Visit) pause(ctx context.Context) {
	if !v.Stdio() || !v.Applies("process-ended") {
		return
	}
	sess, err := v.Session(ctx)
	if err != nil || sess.Facts().Process == nil {
		return
	}
	quiet := firstQuiet
	if v.rested {
		quiet = furtherQuiet
	}
	v.rested = true
	select {
	case <-sess.Done():
	case <-time.After(quiet):
	case <-ctx.Done():
	}
	v.Settle(ctx)
}

// mustNotRepeat reports whether a call must not be made again.
func (v *Visit) mustNotRepeat(call mcp.Call) bool {
	return v.refusesReplay(jsonv.ObjectOf("method", call.Method, "params", parseValue(call.Params)))
}

// repeatAnswered repeats a request that was answered before.
func (v *Visit) repeatAnswered(ctx context.Context, call mcp.Call) Outcome {
	x := v.Once(ctx, call)
	_, skipped := errors.AsType[*skippedError](x.Cause)
	switch {
	case skipped, len(x.Request) == 0 && v.Stdio() && ctx.Err() != nil:
		return Unverified("%v", x.Cause)
	case RefusesAll(Status(x)):
		return Unverified("HTTP %d", Status(x))
	case v.memory.late[keyOf(call)]:
		return Unverified("%s is answered only after an earlier call", nameOfCall(call))
	case GotCode(x, protocol.CodeInternal):
		return Broken(x, "%s got a result before, and %s at the end", nameOfCall(call), Answer(x))
	case x.Response == nil && x.Cause != nil:
		return Broken(x, "%s was answered before, and got no answer at the end: %s", nameOfCall(call), verdict.Excerpt(x.Cause.Error(), 200))
	}
	return Held()
}

// nameOfCall names a call as nameOf does its message.
func nameOfCall(call mcp.Call) string {
	return nameOf(jsonv.ObjectOf("method", call.Method, "params", parseValue(call.Params)).Append(nil))
}
