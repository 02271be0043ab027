package features

import (
	"context"
	"slices"
	"strings"
	"time"

	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lazy"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/offer/apps"
	"mcptest/internal/run/probe/argument"
	"mcptest/internal/run/probe/exam"
	"mcptest/internal/run/probe/verdict"
)

var toolName = lazy.Regexp(`^[A-Za-z0-9_.-]+$`)

// Tools examines the definitions of tools and the results of those that may be called.
func Tools(ctx context.Context, v *exam.Visit) {
	for _, tool := range v.Tools {
		checkDefinition(ctx, v, tool)
	}
	if v.Declares("tools") {
		v.Check(ctx, "tool-unknown", "", func(ctx context.Context) exam.Outcome {
			x := v.Do(ctx, "tools/call", jsonv.ObjectOf("name", "mcptest_no_such_tool", "arguments", jsonv.Object()))
			if exam.Fulfilled(x) && !exam.Another(x) {
				return exam.Broken(x, "the call of a tool that is not listed got a result")
			}
			return exam.BrokenIf(exam.Silent(x), x, "the call of a tool that is not listed got %s", exam.Answer(x))
		})
	}
	if v.Declares("tasks") {
		v.Refuses(ctx, "task-unknown", "", "tasks/get", jsonv.ObjectOf("taskId", "mcptest-no-such-task"), protocol.CodeInvalidParams)
	}
	for _, tool := range v.Tools {
		switch {
		case ctx.Err() != nil:
			return
		case tool.Lookup("execution", "taskSupport").Text() == "required":
			callTaskOnly(ctx, v, tool)
		default:
			callTool(ctx, v, tool)
		}
	}
}

// placeOf is the place of a definition, as evidence.
func placeOf(method string, def jsonv.Value) *mcp.Exchange {
	return &mcp.Exchange{Request: []byte(method), Response: []byte(def.String())}
}

// checkDefinition examines what a tool declares.
func checkDefinition(ctx context.Context, v *exam.Visit, tool jsonv.Value) {
	x, name := placeOf("tools/list", tool), tool.Lookup("name").Text()
	isOdd := len(name) > 128 || !toolName().MatchString(name)
	o := exam.BrokenIf(isOdd, x, "the name has characters other than A-Z a-z 0-9 _ - . or more than 128")
	v.State(ctx, "tool-name", exam.Subject(tool), o)
	v.Check(ctx, "tool-schema", exam.Subject(tool), func(context.Context) exam.Outcome { return checkSchemas(v, tool, x) })
	_, fault := protocol.ParamHeaders(tool.Lookup("inputSchema"))
	v.State(ctx, "tool-header-param", exam.Subject(tool), exam.BrokenIf(fault != "", x, "%s", fault))
}

// checkSchemas examines the schemas of a tool.
func checkSchemas(v *exam.Visit, tool jsonv.Value, x *mcp.Exchange) exam.Outcome {
	schema := tool.Lookup("inputSchema")
	kind := schema.Lookup("type")
	switch {
	case schema.Kind() != jsonv.KindObject:
		return exam.Broken(x, "inputSchema is %s, expected an object", schema.Kind())
	case kind.Text() != "object":
		return exam.Broken(x, `inputSchema has the type %s, expected "object"`, kind.OrNull().Short(40))
	case v.Version.Name < "2025-11-25": // these name no dialect of JSON Schema
		return exam.Held()
	}
	for _, part := range []string{"inputSchema", "outputSchema"} {
		if tool.Lookup(part).IsAbsent() {
			continue
		}
		_, err := jsonschema.Compile(tool.Lookup(part), jsonschema.Options{DefaultDraft: "2020-12", IgnoreFormat: true})
		switch {
		case err == nil:
		case isUnknownHere(err):
			return exam.Unverified("%s: %v", part, err)
		default:
			return exam.Broken(x, "%s is not a valid schema of its dialect: %v", part, err)
		}
	}
	return exam.Held()
}

// isUnknownHere reports whether a schema was refused for a dialect or a reference that is
// unknown here, and not for what it says.
func isUnknownHere(err error) bool {
	words := []string{"dialect", "$schema", "$ref", "reference", "load", "more than"}
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(err.Error(), word) })
}

// callTool calls a tool; the examiner holds the result against the rules.
func callTool(ctx context.Context, v *exam.Visit, tool jsonv.Value) {
	mark, args := v.Mark(), argument.Valid(tool)
	x, why := v.Call(ctx, tool, args)
	if why != "" {
		v.EnterAbout(exam.Subject(tool), exam.Unverified("%s", why), listResultRules(tool)...)
		v.Enter(exam.Unverified("%s", why), "tool-structured-text", "progress-increases", "progress-after", "logging-unasked")
		if len(listRequired(tool)) > 0 {
			v.EnterAbout(exam.Subject(tool), exam.Unverified("%s", why), "tool-required")
		}
		return
	}
	checkProgress(ctx, v, x, mark)
	callWithTextToken(ctx, v, tool, x)
	judgeFallback(ctx, v, tool, x)
	callIncomplete(ctx, v, tool)
	callAsIgnoredTask(ctx, v, tool, args, x)
	switch {
	case x.Elapsed > exam.Long:
		v.TooSlow = append(v.TooSlow, tool.Lookup("name").Text())
	case len(v.Quick) < 3:
		v.Quick = append(v.Quick, tool)
	}
	if !exam.Fulfilled(x) || exam.Another(x) {
		v.EnterAbout(exam.Subject(tool), exam.Unverified("%s needs real data: it got %s", exam.Subject(tool), describeFailure(x)), listResultRules(tool)...)
	}
}

// listResultRules returns the rules about the result of a tool.
func listResultRules(tool jsonv.Value) []string {
	if tool.Lookup("outputSchema").IsAbsent() {
		return []string{"tool-content"}
	}
	return []string{"tool-content", "tool-output-schema"}
}

// listRequired returns the required arguments of a tool without a default.
func listRequired(tool jsonv.Value) (names []string) {
	schema := tool.Lookup("inputSchema")
	for _, name := range schema.Lookup("required").Texts() {
		if schema.Lookup("properties", name, "default").IsAbsent() {
			names = append(names, name)
		}
	}
	return names
}

// describeFailure says why a call returned no usable result.
func describeFailure(x *mcp.Exchange) string {
	for _, block := range exam.Result(x).Lookup("content").List() {
		if text := block.Lookup("text").Text(); text != "" {
			return "“" + verdict.Excerpt(text, 80) + "”"
		}
	}
	return exam.Answer(x)
}

// callIncomplete calls a tool without one of its required arguments.
func callIncomplete(ctx context.Context, v *exam.Visit, tool jsonv.Value) {
	names := listRequired(tool)
	if len(names) == 0 {
		return
	}
	v.Check(ctx, "tool-required", exam.Subject(tool), func(ctx context.Context) exam.Outcome {
		x, why := v.Call(ctx, tool, argument.Valid(tool).Without(names[0]))
		if why != "" {
			return exam.Unverified("%s", why)
		}
		served := exam.Fulfilled(x) && !exam.Another(x)
		return exam.BrokenIf(served, x, "the call without the required argument %s got a result", names[0])
	})
}

// callTaskOnly calls a tool that must be called as a task.
func callTaskOnly(ctx context.Context, v *exam.Visit, tool jsonv.Value) {
	if !v.Declares("tasks", "requests", "tools", "call") {
		return
	}
	v.Check(ctx, "task-required", exam.Subject(tool), func(ctx context.Context) exam.Outcome {
		x, why := v.Call(ctx, tool, argument.Valid(tool))
		if why != "" {
			return exam.Unverified("%s", why)
		}
		return exam.BrokenIf(!exam.NotFound(x), x, "a tool with taskSupport: required got %s for an ordinary call, expected the error -32601", exam.Answer(x))
	})
}

// callAsIgnoredTask calls a tool as a task of a server that has no tasks.
func callAsIgnoredTask(ctx context.Context, v *exam.Visit, tool, args jsonv.Value, control *mcp.Exchange) {
	if v.Declares("tasks", "requests", "tools", "call") || exam.Result(control).Lookup("content").IsAbsent() {
		return
	}
	if !exam.Fulfilled(control) || control.Elapsed > exam.Long || len(v.Quick) > 2 {
		return
	}
	v.Check(ctx, "task-ignored", exam.Subject(tool), func(ctx context.Context) exam.Outcome {
		if why := v.Policy.Call(tool, args); why != "" {
			return exam.Unverified("%s", why)
		}
		x := v.Do(ctx, "tools/call", exam.Params(tool, args, "task", jsonv.Object()))
		refuses := exam.RPCError(x) != nil
		again, _ := v.Call(ctx, tool, args)
		if refuses && exam.Result(again).Lookup("content").IsAbsent() {
			return exam.Unverified("the same call without task is refused, too")
		}
		res := exam.Result(x)
		if !refuses && res.IsAbsent() {
			return exam.Unverified("there was %s", exam.Answer(x))
		}
		isTask := !res.Lookup("task").IsAbsent() && res.Lookup("content").IsAbsent()
		return exam.BrokenIf(refuses || isTask, x, "a call with task got %s, the same call without it a result", exam.Answer(x))
	})
}

// checkProgress examines the progress of a call that asked for it.
func checkProgress(ctx context.Context, v *exam.Visit, x *mcp.Exchange, mark mcp.Mark) {
	last, seen := 0.0, 0
	for _, m := range x.During {
		if m.Method != "notifications/progress" {
			continue
		}
		params, _ := jsonv.Parse(m.Params)
		now := params.Lookup("progress").Float64()
		seen++
		if seen > 1 && now <= last {
			v.Enter(exam.BrokenBy(verdict.Evidence{
				Sent:     string(x.Request),
				Received: string(m.Raw),
			}, "the progress went from %v to %v", last, now), "progress-increases")
		}
		last = now
	}
	if seen > 0 { // whether the response of a long call comes in time is chance
		v.Enter(exam.Held(), "progress-increases", "progress-token")
	}
	if x.Response == nil || x.Elapsed > exam.Long {
		return
	}
	after := awaitLateProgress(v, x, mark, seen)
	if seen > 0 || after.Verdict == verdict.Fail {
		v.Check(ctx, "progress-after", "", func(context.Context) exam.Outcome { return after })
	}
}

// callWithTextToken calls a tool that reports progress with a text as token: the session sees one
// that was changed. A response that is slow is not waited for again.
func callWithTextToken(ctx context.Context, v *exam.Visit, tool jsonv.Value, x *mcp.Exchange) {
	const rule = "progress-token"
	reports := slices.ContainsFunc(x.During, func(m mcp.Message) bool { return m.Method == "notifications/progress" })
	if !v.Applies(rule) || !reports || x.Elapsed > exam.Long {
		return
	}
	args := argument.Valid(tool)
	if v.Policy.Repeats(tool) != "" || v.Policy.Call(tool, args) != "" {
		return
	}
	token := jsonv.ObjectOf("progressToken", "07")
	v.Do(ctx, "tools/call", exam.Params(tool, args, "_meta", token))
}

// chooseLateWait returns how long progress of a call is waited for that comes after its response:
// longer for a call that had progress before it.
func chooseLateWait(seen int) time.Duration {
	if seen > 0 {
		return 50 * time.Millisecond
	}
	return 5 * time.Millisecond
}

// awaitLateProgress waits a moment for progress of a call that comes after its response.
func awaitLateProgress(v *exam.Visit, x *mcp.Exchange, mark mcp.Mark, during int) exam.Outcome {
	if !v.Stdio() || v.Sess == nil {
		return exam.Unverified("only the order on one stream is certain")
	}
	request, _ := jsonv.Parse(x.Request)
	token := request.Lookup("params", "_meta", "progressToken").String()
	time.Sleep(chooseLateWait(during))
	n := 0
	for _, m := range v.Sess.Messages(mark) {
		params, _ := jsonv.Parse(m.Params)
		if m.Method == "notifications/progress" && params.Lookup("progressToken").String() == token {
			n++
			if n > during {
				evidence := verdict.Evidence{Sent: string(x.Request), Received: string(m.Raw)}
				return exam.BrokenBy(evidence, "progress came after the response")
			}
		}
	}
	return exam.Held()
}

// ruleText is about what a tool with a view gives to clients that show none.
const ruleText = "ui-text-fallback"

// isJudgedByText reports whether the result of a tool must have text next to its view.
func isJudgedByText(tool jsonv.Value) bool {
	return apps.HasView(tool) && tool.Lookup("annotations", "readOnlyHint").Bool()
}

// judgeFallback looks what a client without views gets from a call of a tool that has one.
func judgeFallback(ctx context.Context, v *exam.Visit, tool jsonv.Value, x *mcp.Exchange) {
	if !isJudgedByText(tool) {
		return
	}
	v.Viewed = append(v.Viewed, tool.Lookup("name").Text())
	if !exam.Fulfilled(x) || exam.Another(x) {
		why := exam.Unverified("%s needs real data: it got %s", exam.Subject(tool), describeFailure(x))
		v.EnterAbout(exam.Subject(tool), why, ruleText)
		return
	}
	fault := apps.TextFallback(tool, exam.Result(x))
	v.State(ctx, ruleText, exam.Subject(tool), exam.BrokenIf(fault != "", x, "%s", fault))
}
