package basics

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/process/usage"
	"mcptest/internal/run/probe/argument"
	"mcptest/internal/run/probe/exam"
	"mcptest/internal/run/probe/verdict"
)

const (
	equalRequests = 20              // each of which must leave a descriptor open to be a finding
	lateReadings  = 3               // counts that may come before a descriptor is opened
	firstRequests = 3               // what is opened once is no finding
	givenBack     = 2 * time.Second // the time to close descriptors that are not needed
)

// ruleDescriptors is the rule that a server closes what it opens.
const ruleDescriptors = "descriptors-returned"

// equalCall is a request that is made many times, with equal arguments.
type equalCall struct {
	mcp.Call
	subject string
	tool    jsonv.Value // absent: it calls no tool
	args    jsonv.Value
}

// Descriptors makes equal requests and counts the open descriptors of the process and its
// descendants: a server that opens one more for each request stops working one day.
func Descriptors(ctx context.Context, v *exam.Visit) {
	const rule = ruleDescriptors
	if !v.Stdio() || !v.Applies(rule) {
		return
	}
	if why := explainUncountable(v); why != "" {
		v.Enter(exam.Unverified("%s", why), rule)
		return
	}
	for _, call := range equalCalls(v) {
		v.Check(ctx, rule, call.subject, func(ctx context.Context) exam.Outcome { return countDescriptors(ctx, v, call) })
	}
}

// explainUncountable says why the descriptors of a server cannot be counted, "" if they can.
func explainUncountable(v *exam.Visit) string {
	engines := []string{"docker", "podman", "nerdctl"}
	switch {
	case runtime.GOOS != "linux":
		return "descriptors are counted on Linux only"
	case len(v.Pinned.Argv) > 0 && slices.Contains(engines, filepath.Base(v.Pinned.Argv[0])):
		return "the server runs in a container"
	}
	return ""
}

// mostEqualCalls is how many tools are called many times.
const mostEqualCalls = 12

// equalCalls are the requests that are made many times: one that does nothing, a list, a
// call that is refused, a resource, a prompt, a completion, and the tools that are quick.
func equalCalls(v *exam.Visit) []equalCall {
	request := func(method string, params jsonv.Value) equalCall {
		return equalCall{Call: mcp.Call{Method: method, Params: exam.Text(params)}, subject: method}
	}
	calls := []equalCall{request(v.Idle(), jsonv.Value{})}
	if list := v.FirstList(); list != v.Idle() {
		calls = append(calls, request(list, jsonv.Value{}))
	}
	if v.Declares("tools") {
		refused := request("tools/call", jsonv.ObjectOf("name", "mcptest_no_such_tool", "arguments", jsonv.Object()))
		refused.subject = "a call that is refused"
		calls = append(calls, refused)
	}
	for i, r := range v.Resources {
		if !exam.IsChosen(i, len(v.Resources), 2) {
			continue
		}
		calls = append(calls, request("resources/read", jsonv.ObjectOf("uri", r.Lookup("uri"))))
	}
	for i, p := range v.Prompts {
		if !exam.IsChosen(i, len(v.Prompts), 2) {
			continue
		}
		calls = append(calls, request("prompts/get", jsonv.ObjectOf("name", p.Lookup("name"))))
		if v.Declares("completions") {
			ref := jsonv.ObjectOf("type", "ref/prompt", "name", p.Lookup("name"))
			calls = append(calls, request("completion/complete", jsonv.ObjectOf("ref", ref, "argument", jsonv.ObjectOf("name", "a", "value", "a"))))
		}
	}
	var tools []jsonv.Value
	for _, tool := range v.Tools {
		if !v.Slow(tool) && v.Policy.Repeats(tool) == "" {
			tools = append(tools, tool)
		}
	}
	for i, tool := range tools {
		if !exam.IsChosen(i, len(tools), mostEqualCalls) {
			left := exam.Unverified("only %d tools are called many times", mostEqualCalls)
			v.EnterAbout(exam.Subject(tool), left, ruleDescriptors)
			continue
		}
		valid := argument.Valid(tool)
		calls = append(calls, equalTool(tool, valid, exam.Subject(tool)))
		if valid.Len() > 0 {
			wrong := argument.Hostile(valid, false)[0].Args
			calls = append(calls, equalTool(tool, wrong, exam.Subject(tool)+" with arguments of another type"))
		}
	}
	return calls
}

// equalTool is a call of a tool that is made many times.
func equalTool(tool, args jsonv.Value, subject string) equalCall {
	return equalCall{mcp.Call{Method: "tools/call", Params: exam.Text(exam.Params(tool, args))}, subject, tool, args}
}

// countDescriptors counts the descriptors after each of many equal requests.
func countDescriptors(ctx context.Context, v *exam.Visit, call equalCall) exam.Outcome {
	sess, err := v.Session(ctx)
	if err != nil {
		return exam.Unverified("%v", err)
	}
	process := sess.Facts().Process
	if process == nil {
		return exam.Unverified("the server is not a process of this machine")
	}
	meter := usage.New(process.Ref())
	send := func() bool {
		if !call.tool.IsAbsent() && v.Policy.Call(call.tool, call.args) != "" {
			return false
		}
		return v.Once(ctx, call.Call).Response != nil
	}
	for range firstRequests {
		if !send() {
			return exam.Unverified("%s is not answered many times", call.subject)
		}
	}
	first, ok := meter.Read()
	if !ok || first.Descriptors == usage.Unknown {
		return exam.Unverified("the descriptors of the process cannot be read")
	}
	before, late := first.Descriptors, 0
	for range equalRequests + lateReadings {
		if !send() {
			return exam.Unverified("%s is not answered many times", call.subject)
		}
		now, ok := meter.Read()
		if ok && now.Descriptors > before {
			before = now.Descriptors
			continue
		}
		late++
		if !ok || late > lateReadings {
			return exam.Held()
		}
	}
	return awaitDescriptors(ctx, meter, first.Descriptors, call)
}

// awaitDescriptors waits for descriptors to be given back.
func awaitDescriptors(ctx context.Context, meter *usage.Meter, first float64, call equalCall) exam.Outcome {
	now := first
	until := time.Now().Add(givenBack)
	for ; time.Now().Before(until) && ctx.Err() == nil; time.Sleep(givenBack / 20) {
		read, ok := meter.Read()
		now = read.Descriptors
		if !ok || now < first+equalRequests {
			return exam.Held()
		}
	}
	evidence := verdict.Evidence{
		Sent:     fmt.Sprintf("%d equal requests: %s %s", equalRequests, call.Method, call.Params),
		Received: fmt.Sprintf("%.0f open descriptors before them, %.0f after them", first, now),
	}
	return exam.BrokenBy(evidence, "each of %d equal requests left a descriptor open: %.0f became %.0f, also %s later",
		equalRequests, first, now, givenBack)
}
