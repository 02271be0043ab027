package exam

import (
	"context"
	"fmt"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/run/probe/verdict"
)

// replays is how many ends of processes are provoked again in one visit.
const replays = 3

// judgeEndings enters the ends that were not asked for since the last call.
func (v *Visit) judgeEndings(ctx context.Context) {
	for _, e := range v.lives.take() {
		v.judgeEnding(ctx, e)
	}
}

// judgeEnding enters one end of a process. A request that it had read and not answered is
// one without a response (JSON-RPC 2.0, section 5); without such a request a signal or a
// status other than 0 is a fault, and status 0 is not: a server may initiate the shutdown.
func (v *Visit) judgeEnding(ctx context.Context, e ending) {
	if e.aside || !e.greeted && !v.servesAnyRequest(e) {
		return
	}
	how := "the output ended"
	if e.why.Exited {
		how = "the process ended with " + e.why.Exit.String()
	}
	evidence := verdict.Evidence{Sent: verdict.Excerpt(string(e.last), 1000), Received: endOf(e, how)}
	switch {
	case len(e.unanswered) > 0:
		request := e.unanswered[len(e.unanswered)-1]
		evidence.Sent = verdict.Excerpt(string(request), 1000)
		seen := v.countSightings(ctx, request)
		o := BrokenBy(evidence, "%s while %s was in flight (seen %s)", how, nameOf(request), seen)
		v.enterAbout("message-unanswered", nameOf(request), o)
	case e.why.Exited && e.why.Exit.Failed():
		seen := v.countSightings(ctx, e.last)
		o := BrokenBy(evidence, "%s, and nothing was in flight; the last message was %s (seen %s)", how, nameOf(e.last), seen)
		v.enterAbout("process-ended", "after "+nameOf(e.last), o)
	default:
		note := fmt.Sprintf("%s without being asked to, after %s; nothing was in flight", how, nameOf(e.last))
		v.enterAbout("process-ended", "", Outcome{Verdict: verdict.Pass, Note: note})
	}
}

// servesAnyRequest reports whether a process that was never greeted had to answer: one of a
// stateless revision, to anything but initialize.
func (v *Visit) servesAnyRequest(e ending) bool {
	if !v.Modern() || v.Hello == nil || len(e.unanswered) == 0 {
		return false
	}
	name := nameOf(e.unanswered[len(e.unanswered)-1])
	return name != "initialize"
}

// endOf describes the end of a process, with the end of its standard error.
func endOf(e ending, how string) string {
	lines := e.why.Stderr
	if n := len(lines); n > 5 {
		lines = lines[n-5:]
	}
	return strings.TrimSpace(how + "\n" + strings.Join(lines, "\n"))
}

// nameOf names a message: its method, with what it is about.
func nameOf(raw []byte) string {
	m, err := jsonv.Parse(raw)
	if err != nil {
		return "a message that is not JSON"
	}
	if m.Kind() == jsonv.KindArray {
		return "a batch"
	}
	method, params := m.Lookup("method").Text(), m.Lookup("params")
	switch {
	case method == "":
		return "a message without a method"
	case method == "tools/call":
		return method + " of the tool " + params.Lookup("name").Short(60)
	case method == "prompts/get":
		return method + " of the prompt " + params.Lookup("name").Short(60)
	case method == "resources/read":
		return method + " of " + params.Lookup("uri").Short(80)
	case !params.Lookup("cursor").IsAbsent():
		return method + " with a cursor"
	}
	return method
}

// countSightings sends a message to a fresh process, and says how often the process ended after
// it: "once" or "twice". What must not be sent again is not.
func (v *Visit) countSightings(ctx context.Context, raw []byte) string {
	const once = "once"
	m, err := jsonv.Parse(raw)
	if err != nil || m.Kind() != jsonv.KindObject || v.replayed >= replays || ctx.Err() != nil || v.refusesReplay(m) {
		return once
	}
	v.replayed++
	v.Close()
	sess, err := v.Session(ctx)
	if err != nil {
		return once
	}
	ended := func() bool {
		sess.AwaitIdle(ctx)
		return sess.Err() != nil
	}
	if m.Lookup("id").IsAbsent() {
		_ = sess.Notify(ctx, m.Lookup("method").Text(), Text(m.Lookup("params")))
	} else {
		ctx, cancel := mcp.WithLimit(ctx, "response", v.Reply)
		sess.SendRaw(ctx, m.With("id", jsonv.String("mcptest-again")).Append(nil))
		cancel()
	}
	twice := ended()
	v.Close()
	v.lives.take() // this end is part of the verdict on the first one
	if twice {
		return "twice"
	}
	return once
}

// refusesReplay reports whether a message is a call that must not be made again.
func (v *Visit) refusesReplay(m jsonv.Value) bool {
	if m.Lookup("method").Text() != "tools/call" {
		return false
	}
	tool := v.findListedTool(m.Lookup("params", "name").Text())
	return !tool.IsAbsent() && v.Policy.Permits(tool, m.Lookup("params", "arguments")) != ""
}

// findListedTool returns the definition of a tool, absent if it is not listed.
func (v *Visit) findListedTool(name string) jsonv.Value {
	for _, tool := range v.Tools {
		if tool.Lookup("name").Text() == name {
			return tool
		}
	}
	return jsonv.Value{}
}
