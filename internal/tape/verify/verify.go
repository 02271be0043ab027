package verify

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/secret"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/offer/diff"
	"mcptest/internal/offer/surface"
	"mcptest/internal/process/proc"
	"mcptest/internal/tape/cassette"
)

// Report is the result of a verification.
type Report struct {
	Changes []diff.Change // of responses
	Sent    int
	Skipped []string // requests that were not sent, each with the reason
	Notes   []string // what is as recorded although it is a failure
	// Lists are the lists of the recorded server, as far as they were requested.
	Lists map[surface.Kind][]jsonv.Value
	// Handshake is the recorded result of initialize or server/discover.
	Handshake jsonv.Value
	// Violations are those of the server under test.
	Violations []Violation

	followed map[*cassette.Call]bool // sent as part of an earlier call
	traffic  traffic
	asked    questions
}

func newReport() *Report {
	return &Report{
		Lists: map[surface.Kind][]jsonv.Value{}, followed: map[*cassette.Call]bool{},
		traffic: traffic{fewer: map[string][]place{}, more: map[string][]place{}},
	}
}

// finish adds the changes of notifications, and of requests of the server. idle is how
// many more notifications there are between calls than recorded.
func (r *Report) finish(idle map[string]int, stable func(jsonv.Value) jsonv.Value) {
	r.traffic.idle = idle
	r.Changes = append(r.Changes, r.asked.listChanges(stable)...)
	r.Changes = append(r.Changes, r.traffic.listChanges()...)
}

// absent is the reason why there is no response to compare with.
type absent string

func (a absent) Error() string { return string(a) }

// source is where the responses come from that are compared with recorded ones.
type source struct {
	repeats bool // requests are sent a second time; some of them cannot be
	mask    func(string) string
	send    func(call *cassette.Call, request, params jsonv.Value) (outcome, error)
	// What follows is nil for recordings.
	notify func(call *cassette.Call, params jsonv.Value) error
	list   func(call *cassette.Call, l surface.List) error
	after  func(call *cassette.Call, last bool) error // of its session
}

// skip takes a request from a recording that is not compared, so that no later one is
// compared with it.
func (s source) skip(call *cassette.Call, request jsonv.Value) (err error) {
	if !s.repeats {
		_, err = s.send(call, request, jsonv.Value{})
	}
	return err
}

// compareResponses compares the response to each recorded request.
func (r *Report) compareResponses(c *cassette.Cassette, calls []*cassette.Call, from source) error {
	last := map[int]*cassette.Call{}
	for _, call := range calls {
		last[call.Session] = call
	}
	for i, call := range calls {
		if err := r.verifyOne(c, calls[i:], from); err != nil {
			return err
		}
		if err := c.Err(); err != nil {
			return err
		}
		if from.after != nil {
			if err := from.after(call, last[call.Session] == call); err != nil {
				return err
			}
		}
	}
	return nil
}

// verifyOne compares the response to the first of calls.
func (r *Report) verifyOne(c *cassette.Cassette, calls []*cassette.Call, from source) error {
	call := calls[0]
	hasResponseToCompare := call.Request != nil && call.Method != "" && call.Method != "ping"
	if !hasResponseToCompare || c.Refused(call) || r.followed[call] {
		return nil
	}
	label := fmt.Sprintf("%s (line %d): ", strings.TrimSpace(call.Method+" "+call.Name), call.Request.Line)
	request, recorded := c.Exchange(call)
	if err := c.Err(); err != nil {
		return err
	}
	if call.Method == "initialize" || call.Method == protocol.MethodDiscover {
		r.addHandshake(recorded.Lookup("result"))
		return nil
	}
	params := request.Lookup("params")
	if call.ID == "" {
		return r.notifyAgain(call, params, from)
	}
	if is, err := r.recordList(call, params, recorded.Lookup("result"), from); is {
		return err
	}
	if why := explainUnsendable(call, params, from.repeats); why != "" {
		r.Skipped = append(r.Skipped, label+why)
		return from.skip(call, request)
	}
	if params.Kind() == jsonv.KindObject {
		params = params.Without("_meta")
	}
	was, _ := listRecorded(c, call)
	if from.repeats {
		recorded = r.addConclusion(c, calls, recorded, &was)
	}
	if err := c.Err(); err != nil {
		return err
	}
	now, err := from.send(call, request, params)
	if err != nil {
		return fmt.Errorf("%s (line %d of %s): %w", call.Method, call.Request.Line, c.File, err)
	}
	if why := new(absent); errors.As(now.err, why) {
		r.Skipped = append(r.Skipped, label+string(*why))
		return nil
	}
	r.Sent++
	var refused *protocol.RPCError
	failed := now.err != nil && !errors.As(now.err, &refused)
	switch {
	case failed:
		r.reportUnanswered(call, label, now)
	case call.Response == nil:
		r.Changes = append(r.Changes, newChange(call, diff.Review, "", "the server no longer crashes"))
	default:
		r.compare(call, recorded, maskTexts(now.result, from.mask), refused, from.mask, c.Stable)
		r.traffic.compareDuring(call, was, now)
		r.asked.compareDuring(call, was.asked, now.asked, from.mask)
	}
	return nil
}

// reportUnanswered reports a request without a response.
func (r *Report) reportUnanswered(call *cassette.Call, label string, now outcome) {
	switch {
	case now.crashed && call.Response == nil:
		r.addCrash(call, label, now.err)
	case now.crashed:
		r.Changes = append(r.Changes, newChange(call, diff.Breaking, "", "the server crashed: %v", now.err))
	default:
		r.Changes = append(r.Changes, newChange(call, diff.Breaking, "", "the request %s has no response now: %v", call.Method, now.err))
	}
}

// reportLost reports a list that the server does not return any more.
func (r *Report) reportLost(call *cassette.Call, kind surface.List, why error) {
	r.Changes = append(r.Changes, newChange(call, diff.Breaking, "", "%s succeeded and has no result now: %v", kind.Method, why))
}

// addCrash reports a crash that is recorded too.
func (r *Report) addCrash(call *cassette.Call, label string, err error) {
	closed := new(wire.ClosedError)
	was, _ := call.FindCrash()
	crashes := errors.As(err, &closed) && closed.Exited && was != nil
	if crashes && (closed.Exit.Code != was.Code || closed.Exit.Signal != was.Signal) {
		r.Changes = append(r.Changes, newChange(call, diff.Review, "", "the server crashes with %s (recorded: %s)", closed.Exit, proc.Exit{
			Code:   was.Code,
			Signal: was.Signal,
		}))
		return
	}
	r.Notes = append(r.Notes, label+"the server crashed, as recorded")
}

// addHandshake keeps the first result of initialize or server/discover.
func (r *Report) addHandshake(result jsonv.Value) {
	if !r.Handshake.IsAbsent() || result.IsAbsent() {
		return
	}
	r.Handshake = result
	if info := result.Lookup("_meta", protocol.MetaServer); !info.IsAbsent() {
		r.Handshake = result.With("serverInfo", info)
	}
}

// addConclusion returns the response that ended the first of calls: if it required input,
// that to the request with the last input. It adds the notifications and the requests of
// the server during these requests to those of the first.
func (r *Report) addConclusion(c *cassette.Cassette, calls []*cassette.Call, response jsonv.Value, with *outcome) jsonv.Value {
	for _, next := range calls[1:] {
		if response.Lookup("result", "resultType").Text() != "input_required" {
			break
		}
		first := calls[0]
		if next.Session != first.Session || next.Method != first.Method || next.Name != first.Name {
			continue
		}
		if next.Response == nil {
			continue
		}
		request, later := c.Exchange(next)
		if p := request.Lookup("params"); !p.Lookup("inputResponses").IsAbsent() || !p.Lookup("requestState").IsAbsent() {
			with.asked = append(with.asked, listRequired(calls[0], response)...)
			response, r.followed[next] = later, true
			more, _ := listRecorded(c, next)
			add(with.during, more.during, 1)
			with.asked, with.own = append(with.asked, more.asked...), nil
		}
	}
	return response
}

// notifyAgain sends a notification of the recorded client again. The handshake sends its own,
// and those about other messages contain their ids.
func (r *Report) notifyAgain(call *cassette.Call, params jsonv.Value, from source) error {
	switch {
	case from.notify == nil, slices.Contains([]string{"notifications/initialized", "notifications/cancelled", "notifications/progress"}, call.Method):
		return nil
	case strings.Contains(string(params.Append(nil)), secret.Mask):
		r.Skipped = append(r.Skipped, fmt.Sprintf("%s (line %d): a secret in it is masked", call.Method, call.Request.Line))
		return nil
	}
	return from.notify(call, params)
}

// recordList records the result of a list request. It reports whether the request is one
// that is compared as a list: one that was refused is compared like other requests.
func (r *Report) recordList(call *cassette.Call, params, result jsonv.Value, from source) (is bool, err error) {
	for _, l := range surface.Lists() {
		if l.Method != call.Method {
			continue
		}
		_, seen := r.Lists[l.Kind]
		elems := result.Lookup(l.Member)
		if elems.Kind() != jsonv.KindArray && call.Response != nil && call.Response.Omitted == 0 {
			return false, nil
		}
		if elems.Kind() != jsonv.KindArray || seen && params.Lookup("cursor").IsAbsent() {
			return true, nil
		}
		r.Lists[l.Kind] = append(r.Lists[l.Kind], elems.List()...)
		if !seen && from.list != nil {
			err = from.list(call, l)
		}
		return true, err
	}
	return false, nil
}

// explainUnsendable returns the reason why a request cannot be repeated or compared.
func explainUnsendable(call *cassette.Call, params jsonv.Value, again bool) string {
	exit, _ := call.FindCrash()
	switch { // it ended by itself instead of responding
	case call.Response == nil && !(again && exit != nil):
		return "no response is recorded"
	case call.Response != nil && call.Response.Omitted > 0:
		return "the response is too large to be in the cassette"
	case !again:
		return ""
	case strings.Contains(string(params.Append(nil)), secret.Mask):
		return "a secret in it is masked"
	case !params.Lookup("requestState").IsAbsent() || !params.Lookup("inputResponses").IsAbsent():
		return "it continues an earlier request"
	case call.Method == protocol.MethodListen || strings.HasPrefix(call.Method, "tasks/"):
		return "it depends on the state of the session"
	}
	return ""
}

// compare classifies the differences of a response. stable returns what is compared of
// a result.
func (r *Report) compare(
	call *cassette.Call, recorded, live jsonv.Value, refused *protocol.RPCError,
	mask func(string) string, stable func(jsonv.Value) jsonv.Value,
) {
	add := func(class diff.Class, pointer, format string, args ...any) {
		r.Changes = append(r.Changes, newChange(call, class, pointer, format, args...))
	}
	hidden := func(text string) bool { return strings.Contains(text, secret.Mask) }
	was := recorded.Lookup("result")
	switch {
	case was.IsAbsent() && refused == nil:
		add(diff.Review, "", "the request %s was refused and succeeds now", call.Method)
		return
	case was.IsAbsent():
		r.Changes = append(r.Changes, describeErrorChange(call, recorded.Lookup("error"), refused, hidden, mask)...)
		return
	case refused != nil:
		add(diff.Breaking, "", "the request %s succeeded and is refused now: %s", call.Method, refused.Message)
		return
	}
	isError := func(v jsonv.Value) bool { return v.Lookup("isError").Bool() }
	if isError(was) != isError(live) {
		if isError(live) {
			add(diff.Breaking, "/isError", "the call succeeded and reports an error now: %s", live.Lookup("content").Short(200))
		} else {
			add(diff.Review, "/isError", "the call reported an error and succeeds now")
		}
		return
	}
	for _, ch := range jsonv.Diff(stable(was), stable(live)) {
		switch {
		case ch.Kind == jsonv.Added:
			add(diff.Safe, ch.Path, "the response has a new member or element: %s", ch.Got.Short(80))
		case ch.Kind == jsonv.Removed:
			add(diff.Breaking, ch.Path, "the response lacks what was recorded: %s", ch.Want.Short(80))
		case ch.Want.Kind() != ch.Got.Kind():
			add(diff.Breaking, ch.Path, "the type is %s (recorded: %s)", ch.Got.Kind(), ch.Want.Kind())
		case !hidden(ch.Want.Text()):
			add(diff.Review, ch.Path, "the value is %s (recorded: %s)", ch.Got.Short(80), ch.Want.Short(80))
		}
	}
}
