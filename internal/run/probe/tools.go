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
	"mcptest/internal/run/probe/argument"
	"mcptest/internal/run/probe/verdict"
)

var toolName = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

// tools examines the definitions of tools and the results of those that may be called.
func tools(ctx context.Context, v *visit) {
	for _, tool := range v.tools {
		definition(ctx, v, tool)
	}
	if v.declares("tools") {
		v.check(ctx, "tool-unknown", "", func(ctx context.Context) outcome {
			x := v.do(ctx, "tools/call", jsonv.ObjectOf("name", "mcptest_no_such_tool", "arguments", jsonv.Object()))
			if fulfilled(x) && !another(x) {
				return broken(x, "the call of a tool that is not listed got a result")
			}
			return brokenIf(silent(x), x, "the call of a tool that is not listed got %s", answer(x))
		})
	}
	if v.declares("tasks") {
		v.refuses(ctx, "task-unknown", "", "tasks/get", jsonv.ObjectOf("taskId", "mcptest-no-such-task"), protocol.CodeInvalidParams)
	}
	for _, tool := range v.tools {
		switch {
		case ctx.Err() != nil:
			return
		case tool.Lookup("execution", "taskSupport").Text() == "required":
			taskOnly(ctx, v, tool)
		default:
			calling(ctx, v, tool)
		}
	}
}

// listed is the place of a definition, as evidence.
func listed(method string, def jsonv.Value) *mcp.Exchange {
	return &mcp.Exchange{Request: []byte(method), Response: []byte(def.String())}
}

// definition examines what a tool declares.
func definition(ctx context.Context, v *visit, tool jsonv.Value) {
	x, name := listed("tools/list", tool), tool.Lookup("name").Text()
	v.state(ctx, "tool-name", subject(tool), brokenIf(len(name) > 128 || !toolName.MatchString(name), x, "the name has characters other than A-Z a-z 0-9 _ - . or more than 128"))
	v.check(ctx, "tool-schema", subject(tool), func(context.Context) outcome { return schemas(v, tool, x) })
	_, fault := protocol.ParamHeaders(tool.Lookup("inputSchema"))
	v.state(ctx, "tool-header-param", subject(tool), brokenIf(fault != "", x, "%s", fault))
}

// schemas examines the schemas of a tool.
func schemas(v *visit, tool jsonv.Value, x *mcp.Exchange) outcome {
	schema := tool.Lookup("inputSchema")
	switch kind := schema.Lookup("type"); {
	case schema.Kind() != jsonv.KindObject:
		return broken(x, "inputSchema is %s, expected an object", schema.Kind())
	case kind.Text() != "object":
		return broken(x, `inputSchema has the type %s, expected "object"`, kind.OrNull().Short(40))
	case v.version.Name == "2025-06-18":
		return held()
	}
	for _, part := range []string{"inputSchema", "outputSchema"} {
		if tool.Lookup(part).IsAbsent() {
			continue
		}
		_, err := jsonschema.Compile(tool.Lookup(part), jsonschema.Options{DefaultDraft: "2020-12", IgnoreFormat: true})
		switch {
		case err == nil:
		case unknownHere(err):
			return unverified("%s: %v", part, err)
		default:
			return broken(x, "%s is not a valid schema of its dialect: %v", part, err)
		}
	}
	return held()
}

// unknownHere reports whether a schema was refused for a dialect or a reference that is
// unknown here, and not for what it says.
func unknownHere(err error) bool {
	words := []string{"dialect", "$schema", "$ref", "reference", "load", "more than"}
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(err.Error(), word) })
}

// calling examines what calls of a tool return.
func calling(ctx context.Context, v *visit, tool jsonv.Value) {
	ofResult := []string{"tool-output-schema", "tool-structured-text", "tool-content"}
	mark, args := v.mark(), argument.Valid(tool)
	x, why := v.call(ctx, tool, args)
	if why != "" {
		v.enter(unverified("%s", why), append(ofResult, "tool-required", "progress-increases", "progress-after", "logging-unasked")...)
		return
	}
	progress(ctx, v, x, mark)
	required(ctx, v, tool)
	taskIgnored(ctx, v, tool, args, x)
	switch {
	case x.Elapsed > long:
		v.tooSlow = append(v.tooSlow, tool.Lookup("name").Text())
	case len(v.quick) < 3:
		v.quick = append(v.quick, tool)
	}
	if !fulfilled(x) || another(x) {
		v.enter(unverified("%s needs real data: it got %s", subject(tool), failure(x)), ofResult...)
		return
	}
	returned(ctx, v, tool, args, x)
}

// returned examines the result of a call.
func returned(ctx context.Context, v *visit, tool, args jsonv.Value, x *mcp.Exchange) {
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
				return broken(x, "%s", rep.Violations[0].Msg)
			case len(rep.Warnings) > 0:
				return unverified("%s", rep.Warnings[0])
			}
			return held()
		})
	}
	if !res.Lookup("structuredContent").IsAbsent() {
		hasText := slices.ContainsFunc(res.Lookup("content").List(), func(b jsonv.Value) bool { return b.Lookup("type").Text() == "text" })
		v.state(ctx, "tool-structured-text", subject(tool), brokenIf(!hasText, x, "the result has structuredContent, but no text block"))
	}
	for i, block := range res.Lookup("content").Elems() {
		v.check(ctx, "tool-content", subject(tool), func(ctx context.Context) outcome {
			x := call(ctx)
			why := check.Block(result(x).Lookup("content").At(i))
			return brokenIf(why != "", x, "%s", why)
		})
		if kind := block.Lookup("type").Text(); kind == "image" || kind == "audio" {
			why := check.Media(block)
			v.state(ctx, "tool-content-mime", subject(tool), brokenIf(why != "", x, "%s", why))
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
func required(ctx context.Context, v *visit, tool jsonv.Value) {
	schema := tool.Lookup("inputSchema")
	for _, name := range schema.Lookup("required").Texts() {
		if !schema.Lookup("properties", name, "default").IsAbsent() {
			continue
		}
		v.check(ctx, "tool-required", subject(tool), func(ctx context.Context) outcome {
			x, why := v.call(ctx, tool, argument.Valid(tool).Without(name))
			if why != "" {
				return unverified("%s", why)
			}
			return brokenIf(fulfilled(x) && !another(x), x, "the call without the required argument %s got a result", name)
		})
		return
	}
}

// taskOnly calls a tool that must be called as a task.
func taskOnly(ctx context.Context, v *visit, tool jsonv.Value) {
	if !v.declares("tasks", "requests", "tools", "call") {
		return
	}
	v.check(ctx, "task-required", subject(tool), func(ctx context.Context) outcome {
		x, why := v.call(ctx, tool, argument.Valid(tool))
		if why != "" {
			return unverified("%s", why)
		}
		return brokenIf(!notFound(x), x, "a tool with taskSupport: required got %s for an ordinary call, expected the error -32601", answer(x))
	})
}

// taskIgnored calls a tool as a task of a server that has no tasks.
func taskIgnored(ctx context.Context, v *visit, tool, args jsonv.Value, control *mcp.Exchange) {
	if v.declares("tasks", "requests", "tools", "call") || result(control).Lookup("content").IsAbsent() || !fulfilled(control) || control.Elapsed > long || len(v.quick) > 2 {
		return
	}
	v.check(ctx, "task-ignored", subject(tool), func(ctx context.Context) outcome {
		if why := v.policy.Call(tool, args); why != "" {
			return unverified("%s", why)
		}
		x := v.do(ctx, "tools/call", params(tool, args, "task", jsonv.Object()))
		refuses := rpcError(x) != nil
		if again, _ := v.call(ctx, tool, args); refuses && result(again).Lookup("content").IsAbsent() {
			return unverified("the same call without task is refused, too")
		}
		res := result(x)
		if !refuses && res.IsAbsent() {
			return unverified("there was %s", answer(x))
		}
		return brokenIf(refuses || !res.Lookup("task").IsAbsent() && res.Lookup("content").IsAbsent(), x, "a call with task got %s, the same call without it a result", answer(x))
	})
}

// progress examines the progress of a call that asked for it.
func progress(ctx context.Context, v *visit, x *mcp.Exchange, mark mcp.Mark) {
	last, seen := 0.0, 0
	for _, m := range x.During {
		if m.Method != "notifications/progress" {
			continue
		}
		params, _ := jsonv.Parse(m.Params)
		now := params.Lookup("progress").Float64()
		if seen++; seen > 1 && now <= last {
			v.enter(brokenBy(verdict.Evidence{Sent: string(x.Request), Received: string(m.Raw)}, "the progress went from %v to %v", last, now), "progress-increases")
		}
		last = now
	}
	if seen > 0 { // whether the response of a long call comes in time is chance
		v.enter(held(), "progress-increases", "progress-token")
	}
	if seen > 0 && x.Response != nil && x.Elapsed <= long {
		v.check(ctx, "progress-after", "", func(context.Context) outcome { return progressAfter(v, x, mark, seen) })
	}
}

// progressAfter waits a moment for progress of a call that comes after its response.
func progressAfter(v *visit, x *mcp.Exchange, mark mcp.Mark, during int) outcome {
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
				return brokenBy(verdict.Evidence{Sent: string(x.Request), Received: string(m.Raw)}, "progress came after the response")
			}
		}
	}
	return held()
}
