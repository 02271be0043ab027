package probe

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/check"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/run/probe/verdict"
)

var toolName = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

// toolRules examines the rules of the family tools.
type toolRules struct{ *visit }

// toolsFamily examines the definitions of tools and the results of those that may be called.
func (v toolRules) toolsFamily(ctx context.Context) {
	for _, tool := range v.tools {
		v.definition(ctx, tool)
	}
	if v.declares("tools") {
		v.check(ctx, "tool-unknown", "", func(ctx context.Context) outcome {
			x := v.do(ctx, "tools/call", jsonv.ObjectOf("name", "mcptest_no_such_tool", "arguments", jsonv.Object()))
			if x.Result != nil && !result(x).Lookup("isError").Bool() && !another(x) {
				return broken(shown(x), "the call of a tool that is not listed got a result")
			}
			if x.Response == nil && status(x) == 0 {
				return broken(shown(x), "the call of a tool that is not listed got %s", answer(x))
			}
			return held()
		})
	}
	if v.declares("tasks") {
		v.check(ctx, "task-unknown", "", func(ctx context.Context) outcome {
			return v.expectCode(ctx, "tasks/get", jsonv.ObjectOf("taskId", "mcptest-no-such-task"), protocol.CodeInvalidParams)
		})
	}
	for _, tool := range v.tools {
		if ctx.Err() != nil {
			break
		}
		if tool.Lookup("execution", "taskSupport").Text() == "required" {
			v.taskOnly(ctx, tool)
			continue
		}
		v.calling(ctx, tool)
	}
}

func subject(tool jsonv.Value) string { return "tool " + tool.Lookup("name").Text() }

// definition examines what a tool declares.
func (v toolRules) definition(ctx context.Context, tool jsonv.Value) {
	listed := verdict.Evidence{Sent: "tools/list", Received: verdict.Excerpt(tool.String(), 1000)}
	schema := tool.Lookup("inputSchema")
	v.check(ctx, "tool-name", subject(tool), func(context.Context) outcome {
		if name := tool.Lookup("name").Text(); len(name) > 128 || !toolName.MatchString(name) {
			return broken(listed, "the name has characters other than A-Z a-z 0-9 _ - . or more than 128")
		}
		return held()
	})
	v.check(ctx, "tool-schema", subject(tool), func(context.Context) outcome {
		if schema.Kind() != jsonv.KindObject {
			return broken(listed, "inputSchema is %s, expected an object", schema.Kind())
		}
		if schema.Lookup("type").Text() != "object" {
			return broken(listed, `inputSchema has the type %s, expected "object"`, schema.Lookup("type").OrNull().Short(40))
		}
		if v.version.Name == "2025-06-18" {
			return held()
		}
		for _, part := range []string{"inputSchema", "outputSchema"} {
			def, ok := tool.Get(part)
			if !ok {
				continue
			}
			if _, err := jsonschema.Compile(def, jsonschema.Options{DefaultDraft: "2020-12", IgnoreFormat: true}); err != nil {
				if !invalidSchema(err) {
					return unverified("%s: %v", part, err)
				}
				return broken(listed, "%s is not a valid schema of its dialect: %v", part, err)
			}
		}
		return held()
	})
	v.check(ctx, "tool-header-param", subject(tool), func(context.Context) outcome {
		if _, fault := protocol.ParamHeaders(schema); fault != "" {
			return broken(listed, "%s", fault)
		}
		return held()
	})
}

// calling examines what calls of a tool return.
func (v toolRules) calling(ctx context.Context, tool jsonv.Value) {
	mark := v.mark()
	args := jsonschema.Arguments(tool.Lookup("inputSchema"))
	x, why := v.call(ctx, tool, args)
	if why != "" {
		for _, rule := range []string{"tool-output-schema", "tool-structured-text", "tool-content", "tool-required", "progress-increases", "progress-after", "logging-unasked"} {
			v.enter(rule, unverified("%s", why))
		}
		return
	}
	v.notifications(ctx, x, mark)
	v.required(ctx, tool)
	v.taskIgnored(ctx, tool, args, x)
	switch {
	case x.Elapsed > slow:
		v.tooSlow = append(v.tooSlow, tool.Lookup("name").Text())
	case len(v.quick) < 3:
		v.quick = append(v.quick, tool)
	}
	if res := result(x); res.IsAbsent() || res.Lookup("isError").Bool() || another(x) {
		for _, rule := range []string{"tool-output-schema", "tool-structured-text", "tool-content"} {
			v.enter(rule, unverified("%s needs real data: it got %s", subject(tool), failure(x)))
		}
		return
	}
	v.returned(ctx, tool, args, x)
}

// returned examines the result of a call.
func (v toolRules) returned(ctx context.Context, tool, args jsonv.Value, x *mcp.Exchange) {
	res, schema := result(x), tool.Lookup("outputSchema")
	first := x
	call := func(ctx context.Context) *mcp.Exchange { // again for a second sighting
		if first != nil {
			first = nil
			return x
		}
		if repeated, why := v.call(ctx, tool, args); why == "" {
			return repeated
		}
		return x
	}
	if !schema.IsAbsent() {
		compiled := check.NewOutputSchema(schema)
		v.check(ctx, "tool-output-schema", subject(tool), func(ctx context.Context) outcome {
			x := call(ctx)
			rep := compiled.Check(ctx, tool.Lookup("name").Text(), result(x))
			switch {
			case len(rep.Violations) > 0 && strings.Contains(rep.Violations[0].Msg, "took more than"): // a limit of mcptest
				return unverified("%s", rep.Violations[0].Msg)
			case len(rep.Violations) > 0:
				return broken(shown(x), "%s", rep.Violations[0].Msg)
			case len(rep.Warnings) > 0:
				return unverified("%s", rep.Warnings[0])
			}
			return held()
		})
	}
	if !res.Lookup("structuredContent").IsAbsent() {
		v.check(ctx, "tool-structured-text", subject(tool), func(context.Context) outcome {
			if !slices.ContainsFunc(res.Lookup("content").List(), func(b jsonv.Value) bool { return b.Lookup("type").Text() == "text" }) {
				return broken(shown(x), "the result has structuredContent, but no text block")
			}
			return held()
		})
	}
	for i, block := range res.Lookup("content").Elems() {
		v.check(ctx, "tool-content", subject(tool), func(ctx context.Context) outcome {
			x := call(ctx)
			return right(check.Block(result(x).Lookup("content").At(i)), x)
		})
		if kind := block.Lookup("type").Text(); kind == "image" || kind == "audio" {
			v.check(ctx, "tool-content-mime", subject(tool), func(context.Context) outcome { return right(check.Media(block), x) })
		}
	}
}

// failure says why a call returned no usable result.
func failure(x *mcp.Exchange) string {
	for _, block := range result(x).Lookup("content").List() {
		if text := block.Lookup("text").Text(); text != "" {
			return "“" + verdict.Excerpt(text, 80) + "”"
		}
	}
	return answer(x)
}

// required calls a tool without one of its required arguments.
func (v toolRules) required(ctx context.Context, tool jsonv.Value) {
	schema := tool.Lookup("inputSchema")
	for _, name := range schema.Lookup("required").Texts() {
		if !schema.Lookup("properties", name, "default").IsAbsent() {
			continue
		}
		args := jsonschema.Arguments(schema).Without(name)
		v.check(ctx, "tool-required", subject(tool), func(ctx context.Context) outcome {
			x, why := v.call(ctx, tool, args)
			switch {
			case why != "":
				return unverified("%s", why)
			case x.Result != nil && !result(x).Lookup("isError").Bool() && !another(x):
				return broken(shown(x), "the call without the required argument %s got a result", name)
			}
			return held()
		})
		return
	}
}

// taskOnly calls a tool that must be called as a task.
func (v toolRules) taskOnly(ctx context.Context, tool jsonv.Value) {
	if !v.declares("tasks", "requests", "tools", "call") {
		return
	}
	v.check(ctx, "task-required", subject(tool), func(ctx context.Context) outcome {
		x, why := v.call(ctx, tool, jsonschema.Arguments(tool.Lookup("inputSchema")))
		switch {
		case why != "":
			return unverified("%s", why)
		case notFound(x):
			return held()
		}
		return broken(shown(x), "a tool with taskSupport: required got %s for an ordinary call, expected the error -32601", answer(x))
	})
}

// taskIgnored calls a tool as a task of a server that has no tasks.
func (v toolRules) taskIgnored(ctx context.Context, tool, args jsonv.Value, control *mcp.Exchange) {
	if v.declares("tasks", "requests", "tools", "call") || result(control).Lookup("content").IsAbsent() || result(control).Lookup("isError").Bool() || control.Elapsed > slow || len(v.quick) > 2 {
		return
	}
	v.check(ctx, "task-ignored", subject(tool), func(ctx context.Context) outcome {
		if why := v.policy.Call(tool, args); why != "" {
			return unverified("%s", why)
		}
		x := v.do(ctx, "tools/call", jsonv.ObjectOf("name", tool.Lookup("name"), "arguments", args, "task", jsonv.Object()))
		_, refuses := code(x)
		if again, _ := v.call(ctx, tool, args); refuses && result(again).Lookup("content").IsAbsent() {
			return unverified("the same call without task is refused, too")
		}
		switch res := result(x); {
		case refuses, !res.Lookup("task").IsAbsent() && res.Lookup("content").IsAbsent():
			return broken(shown(x), "a call with task got %s, the same call without it a result", answer(x))
		case res.IsAbsent():
			return unverified("there was %s", answer(x))
		}
		return held()
	})
}

// mark is the place of the next message in the open session.
func (v *visit) mark() mcp.Mark {
	if v.sess == nil {
		return 0
	}
	return v.sess.Mark()
}

// notifications examines what came with a call that asked for progress and for no logs.
func (v toolRules) notifications(ctx context.Context, x *mcp.Exchange, mark mcp.Mark) {
	last, seen := 0.0, 0
	for _, m := range x.During {
		params, _ := jsonv.Parse(m.Params)
		if m.Method != "notifications/progress" {
			continue
		}
		now := params.Lookup("progress").Float64()
		if seen++; seen > 1 && now <= last {
			v.enter("progress-increases", broken(verdict.Evidence{Sent: string(x.Request), Received: string(m.Raw)}, "the progress went from %v to %v", last, now))
		}
		last = now
	}
	if seen > 0 { // whether the response of a long call comes in time is chance
		v.enter("progress-increases", held())
		v.enter("progress-token", held())
	}
	if seen > 0 && x.Response != nil && x.Elapsed <= slow {
		v.check(ctx, "progress-after", "", func(ctx context.Context) outcome { return v.progressAfter(x, mark, seen) })
	}
}

// progressAfter waits a moment for progress of a call that comes after its response.
func (v toolRules) progressAfter(x *mcp.Exchange, mark mcp.Mark, during int) outcome {
	if !v.stdio() || v.sess == nil {
		return unverified("only the order on one stream is certain")
	}
	request, _ := jsonv.Parse(x.Request)
	token := request.Lookup("params", "_meta", "progressToken").String()
	time.Sleep(50 * time.Millisecond)
	n := 0
	for _, m := range v.sess.Messages(mark) {
		params, _ := jsonv.Parse(m.Params)
		if m.Method == "notifications/progress" && params.Lookup("progressToken").String() == token {
			if n++; n > during {
				return broken(verdict.Evidence{Sent: string(x.Request), Received: string(m.Raw)}, "progress came after the response")
			}
		}
	}
	return held()
}
