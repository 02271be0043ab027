package features

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/offer/surface"
	"mcptest/internal/run/probe/argument"
	"mcptest/internal/run/probe/exam"
)

// Isolation looks in one session for what another one has sent.
func Isolation(ctx context.Context, v *exam.Visit) {
	const rule = "isolation-data"
	switch {
	case v.Stdio():
		v.Enter(exam.Inapplicable("over stdio each client has a process of its own, started by its user"), rule)
		return
	case v.Pinned.Auth != nil || len(v.Pinned.Headers) > 0:
		v.Enter(exam.Unverified("both sessions have the credentials of one user, whose data they may share"), rule)
		return
	}
	n := 0
	v.Check(ctx, rule, "", func(ctx context.Context) exam.Outcome {
		n++
		return checkLeak(ctx, v, markOf(v, n))
	})
	v.Check(ctx, rule, "equal ids at the same time", func(ctx context.Context) exam.Outcome {
		n++
		return sendEqualIDs(ctx, v, markOf(v, n))
	})
}

// markOf is a text that nothing else contains.
func markOf(v *exam.Visit, n int) string {
	return fmt.Sprintf("mcptest-mark-%d-%d-%s", v.Seed, n, v.Era)
}

// checkLeak sends a mark in one session, and reads everything in another one.
func checkLeak(ctx context.Context, v *exam.Visit, mark string) exam.Outcome {
	var sent *mcp.Exchange
	why := "the server offers no tool that takes text"
	var takers, others []jsonv.Value
	for _, tool := range v.Tools {
		args := argument.Marked(argument.Complete(tool), mark)
		switch {
		case v.Slow(tool):
			continue
		case args.IsAbsent():
			others = append(others, tool)
			continue
		}
		takers = append(takers, tool)
		if x, refusal := v.Call(ctx, tool, args); refusal != "" {
			why = refusal
		} else if x.Response != nil {
			sent = x
		}
	}
	if sent == nil {
		return exam.Unverified("%s", why)
	}
	leak := func(x *mcp.Exchange, where string) exam.Outcome {
		o := exam.Broken(sent, "%s returned to one session text that another session had sent", where)
		o.Evidence = append(o.Evidence, exam.Shown(x))
		return o
	}
	v.Close() // the next request opens another session
	if _, err := v.Session(ctx); err != nil {
		return exam.Unverified("no second session could be opened: %v", err)
	}
	// Tools without texts come first: one with a text may replace what the other session left.
	for _, tool := range slices.Concat(others, takers) {
		x, why := v.Call(ctx, tool, argument.Valid(tool))
		if why == "" && bytes.Contains(x.Response, []byte(mark)) {
			return leak(x, "the "+exam.Subject(tool))
		}
	}
	for _, r := range v.Resources[:min(len(v.Resources), 20)] {
		x := v.Do(ctx, "resources/read", jsonv.ObjectOf("uri", r.Lookup("uri")))
		if bytes.Contains(x.Response, []byte(mark)) {
			return leak(x, "the resource "+r.Lookup("uri").Text())
		}
	}
	return exam.Held()
}

// sendEqualIDs sends two requests with equal ids in two sessions at the same time, as two clients
// do that both begin to count at 1, and looks for the answer to the other one.
func sendEqualIDs(ctx context.Context, v *exam.Visit, mark string) exam.Outcome {
	const pairs = 5
	own, end, err := openTwoSessions(ctx, v)
	defer end()
	if err != nil {
		return exam.Unverified("not tried at the same time: a second session was refused: %v", err)
	}
	tool := findEchoTool(ctx, v, mark)
	o := exam.Unverified("every pair of requests was refused by a status that may answer anything")
	for n := range pairs {
		marks := []string{fmt.Sprintf("%s-a-%d", mark, n), fmt.Sprintf("%s-b-%d", mark, n)}
		messages := makePair(v, tool, marks, 7401+n)
		headers := []http.Header{v.HeadersIn(messages[0], own[0]), v.HeadersIn(messages[1], own[1])}
		got := v.AtOnce(ctx, messages, headers)
		for i, x := range got {
			if isForeign(x, messages[i], marks[1-i]) {
				return reportMixUp(x, got[1-i], "the answer to")
			}
		}
		if slices.ContainsFunc(got, func(x *mcp.Exchange) bool { return exam.RefusesAll(exam.Status(x)) }) {
			continue
		}
		for i, x := range got {
			other := got[1-i]
			if x.Response != nil && (!exam.Refused(x) || exam.Refused(other)) {
				continue
			}
			if alone := v.AtOnce(ctx, messages[i:i+1], headers[i:i+1])[0]; alone.Result == nil {
				return exam.Unverified("a request got %s next to one of another session, and %s alone", exam.Answer(x), exam.Answer(alone))
			}
			return reportMixUp(x, other, exam.Answer(x)+" next to")
		}
		o = exam.Held()
	}
	return o
}

// openTwoSessions opens two sessions and returns their ids, "" in a revision without sessions,
// and what ends them.
func openTwoSessions(ctx context.Context, v *exam.Visit) (ids [2]string, end func(), err error) {
	var open []*mcp.Session
	end = func() {
		for _, sess := range open {
			v.End(sess)
		}
	}
	if v.Modern() {
		return ids, end, nil
	}
	for i := range ids {
		sess, err := v.Open(ctx, jsonv.Value{})
		if err != nil {
			return ids, end, err
		}
		open = append(open, sess)
		if info := sess.Handshake().HTTP; info != nil {
			ids[i] = info.Header.Get(exam.SessionID)
		}
	}
	return ids, end, nil
}

// findEchoTool returns a tool that returns a text that it gets, absent if none does.
func findEchoTool(ctx context.Context, v *exam.Visit, mark string) jsonv.Value {
	for _, tool := range v.Tools {
		args := argument.Marked(argument.Complete(tool), mark)
		if args.IsAbsent() || v.Slow(tool) || v.Policy.Repeats(tool) != "" {
			continue
		}
		if x, why := v.Call(ctx, tool, args); why == "" && bytes.Contains(x.Result, []byte(mark)) {
			return tool
		}
	}
	return jsonv.Value{}
}

// makePair returns two requests with an equal id with different answers: two calls of a
// tool that returns its text, or two methods.
func makePair(v *exam.Visit, tool jsonv.Value, marks []string, id int) []jsonv.Value {
	if tool.IsAbsent() {
		return []jsonv.Value{
			v.Frame(id, v.FirstList(), jsonv.Value{}),
			v.Frame(id, v.Idle(), jsonv.Value{}),
		}
	}
	var out []jsonv.Value
	for _, mark := range marks {
		args := argument.Marked(argument.Complete(tool), mark)
		v.Policy.Call(tool, args)
		out = append(out, v.Frame(id, "tools/call", exam.Params(tool, args)))
	}
	return out
}

// isForeign reports whether a request got what another one asked for, whose text is known.
func isForeign(x *mcp.Exchange, message jsonv.Value, text string) bool {
	if member, ok := findMember(message.Lookup("method").Text()); ok && x.Result != nil {
		return exam.Result(x).Lookup(member).IsAbsent()
	}
	return bytes.Contains(x.Response, []byte(text))
}

// reportMixUp says what a request got instead of its own answer, next to another one with its id.
func reportMixUp(x, other *mcp.Exchange, what string) exam.Outcome {
	o := exam.Broken(x, "a request got %s one that had the same id in another session, at the same time", what)
	o.Evidence = append(o.Evidence, exam.Shown(other))
	return o
}

// findMember returns the member of the result of a list.
func findMember(method string) (member string, ok bool) {
	for _, l := range surface.Lists() {
		if l.Method == method {
			return l.Member, true
		}
	}
	return "", false
}
