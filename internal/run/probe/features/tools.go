package features

import (
	"context"
	"slices"
	"strings"
	"time"

	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lazy"
	"mcptest/internal/client/check"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/run/probe/argument"
	"mcptest/internal/run/probe/exam"
	"mcptest/internal/run/probe/verdict"
)

var toolName = lazy.Regexp(`^[A-Za-z0-9_.-]+$`)

// Tools examines the definitions of tools and the results of those that may be called.
func Tools(ctx context.Context, v *exam.Visit) {
	for _, tool := range v.Tools {
		definition(ctx, v, tool)
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
func definition(ctx context.Context, v *exam.Visit, tool jsonv.Value) {
	x, name := listed("tools/list", tool), tool.Lookup("name").Text()
	v.State(ctx, "tool-name", exam.Subject(tool), exam.BrokenIf(len(name) > 128 || !toolName().MatchString(name), x, "the name has characters other than A-Z a-z 0-9 _ - . or more than 128"))
	v.Check(ctx, "tool-schema", exam.Subject(tool), func(context.Context) exam.Outcome { return schemas(v, tool, x) })
	_, fault := protocol.ParamHeaders(tool.Lookup("inputSchema"))
	v.State(ctx, "tool-header-param", exam.Subject(tool), exam.BrokenIf(fault != "", x, "%s", fault))
}

// schemas examines the schemas of a tool.
func schemas(v *exam.Visit, tool jsonv.Value, x *mcp.Exchange) exam.Outcome {
	schema := tool.Lookup("inputSchema")
	switch kind := schema.Lookup("type"); {
	case schema.Kind() != jsonv.KindObject:
		return exam.Broken(x, "inputSchema is %s, expected an object", schema.Kind())
	case kind.Text() != "object":
		return exam.Broken(x, `inputSchema has the type %s, expected "object"`, kind.OrNull().Short(40))
	case v.Version.Name == "2025-06-18":
		return exam.Held()
	}
	for _, part := range []string{"inputSchema", "outputSchema"} {
		if tool.Lookup(part).IsAbsent() {
			continue
		}
		_, err := jsonschema.Compile(tool.Lookup(part), jsonschema.Options{DefaultDraft: "2020-12", IgnoreFormat: true})
		switch {
		case err == nil:
		case unknownHere(err):
			return exam.Unverified("%s: %v", part, err)
		default:
			return exam.Broken(x, "%s is not a valid schema of its dialect: %v", part, err)
		}
	}
	return exam.Held()
}

// unknownHere reports whether a schema was refused for a dialect or a reference that is
// unknown here, and not for what it says.
func unknownHere(err error) bool {
	words := []string{"dialect", "$schema", "$ref", "reference", "load", "more than"}
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(err.Error(), word) })
}

// calling examines what calls of a tool return.
func calling(ctx context.Context, v *exam.Visit, tool jsonv.Value) {
	ofResult := []string{"tool-output-schema", "tool-structured-text", "tool-content"}
	mark, args := v.Mark(), argument.Valid(tool)
	x, why := v.Call(ctx, tool, args)
	if why != "" {
		v.Enter(exam.Unverified("%s", why), append(ofResult, "tool-required", "progress-increases", "progress-after", "logging-unasked")...)
		return
	}
	progress(ctx, v, x, mark)
	required(ctx, v, tool)
	taskIgnored(ctx, v, tool, args, x)
	switch {
	case x.Elapsed > exam.Long:
		v.TooSlow = append(v.TooSlow, tool.Lookup("name").Text())
	case len(v.Quick) < 3:
		v.Quick = append(v.Quick, tool)
	}
	if !exam.Fulfilled(x) || exam.Another(x) {
		v.Enter(exam.Unverified("%s needs real data: it got %s", exam.Subject(tool), failure(x)), ofResult...)
		return
	}
	returned(ctx, v, tool, args, x)
}

// returned examines the result of a call.
func returned(ctx context.Context, v *exam.Visit, tool, args jsonv.Value, x *mcp.Exchange) {
	res, schema := exam.Result(x), tool.Lookup("outputSchema")
	again := func(ctx context.Context) *mcp.Exchange { // for a second sighting, which may have fewer blocks
		if repeated, why := v.Call(ctx, tool, args); why == "" {
			return repeated
		}
		return x
	}
	if !schema.IsAbsent() {
		compiled := check.NewOutputSchema(schema)
		seen := x
		v.Check(ctx, "tool-output-schema", exam.Subject(tool), func(ctx context.Context) exam.Outcome {
			x := seen
			if seen = nil; x == nil {
				x = again(ctx)
			}
			rep := compiled.Check(ctx, tool.Lookup("name").Text(), exam.Result(x))
			switch {
			case len(rep.Violations) > 0 && strings.Contains(rep.Violations[0].Msg, "took more than"): // a limit of mcptest
				return exam.Unverified("%s", rep.Violations[0].Msg)
			case len(rep.Violations) > 0:
				return exam.Broken(x, "%s", rep.Violations[0].Msg)
			case len(rep.Warnings) > 0:
				return exam.Unverified("%s", rep.Warnings[0])
			}
			return exam.Held()
		})
	}
	if !res.Lookup("structuredContent").IsAbsent() {
		hasText := slices.ContainsFunc(res.Lookup("content").List(), func(b jsonv.Value) bool { return b.Lookup("type").Text() == "text" })
		v.State(ctx, "tool-structured-text", exam.Subject(tool), exam.BrokenIf(!hasText, x, "the result has structuredContent, but no text block"))
	}
	v.Elements(ctx, "tool-content", exam.Subject(tool), x, again, "content", check.Block)
	for _, block := range res.Lookup("content").Elems() {
		if kind := block.Lookup("type").Text(); kind == "image" || kind == "audio" {
			why := check.Media(block)
			v.State(ctx, "tool-content-mime", exam.Subject(tool), exam.BrokenIf(why != "", x, "%s", why))
		}
	}
}

// failure says why a call returned no usable result.
func failure(x *mcp.Exchange) string {
	for _, block := range exam.Result(x).Lookup("content").List() {
		if text := block.Lookup("text").Text(); text != "" {
			return "“" + verdict.Excerpt(text, 80) + "”"
		}
	}
	return exam.Answer(x)
}

// required calls a tool without one of its required arguments.
func required(ctx context.Context, v *exam.Visit, tool jsonv.Value) {
	schema := tool.Lookup("inputSchema")
	for _, name := range schema.Lookup("required").Texts() {
		if !schema.Lookup("properties", name, "default").IsAbsent() {
			continue
		}
		v.Check(ctx, "tool-required", exam.Subject(tool), func(ctx context.Context) exam.Outcome {
			x, why := v.Call(ctx, tool, argument.Valid(tool).Without(name))
			if why != "" {
				return exam.Unverified("%s", why)
			}
			return exam.BrokenIf(exam.Fulfilled(x) && !exam.Another(x), x, "the call without the required argument %s got a result", name)
		})
		return
	}
}

// taskOnly calls a tool that must be called as a task.
func taskOnly(ctx context.Context, v *exam.Visit, tool jsonv.Value) {
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

// taskIgnored calls a tool as a task of a server that has no tasks.
func taskIgnored(ctx context.Context, v *exam.Visit, tool, args jsonv.Value, control *mcp.Exchange) {
	if v.Declares("tasks", "requests", "tools", "call") || exam.Result(control).Lookup("content").IsAbsent() || !exam.Fulfilled(control) || control.Elapsed > exam.Long || len(v.Quick) > 2 {
		return
	}
	v.Check(ctx, "task-ignored", exam.Subject(tool), func(ctx context.Context) exam.Outcome {
		if why := v.Policy.Call(tool, args); why != "" {
			return exam.Unverified("%s", why)
		}
		x := v.Do(ctx, "tools/call", exam.Params(tool, args, "task", jsonv.Object()))
		refuses := exam.RPCError(x) != nil
		if again, _ := v.Call(ctx, tool, args); refuses && exam.Result(again).Lookup("content").IsAbsent() {
			return exam.Unverified("the same call without task is refused, too")
		}
		res := exam.Result(x)
		if !refuses && res.IsAbsent() {
			return exam.Unverified("there was %s", exam.Answer(x))
		}
		return exam.BrokenIf(refuses || !res.Lookup("task").IsAbsent() && res.Lookup("content").IsAbsent(), x, "a call with task got %s, the same call without it a result", exam.Answer(x))
	})
}

// progress examines the progress of a call that asked for it.
func progress(ctx context.Context, v *exam.Visit, x *mcp.Exchange, mark mcp.Mark) {
	last, seen := 0.0, 0
	for _, m := range x.During {
		if m.Method != "notifications/progress" {
			continue
		}
		params, _ := jsonv.Parse(m.Params)
		now := params.Lookup("progress").Float64()
		if seen++; seen > 1 && now <= last {
			v.Enter(exam.BrokenBy(verdict.Evidence{Sent: string(x.Request), Received: string(m.Raw)}, "the progress went from %v to %v", last, now), "progress-increases")
		}
		last = now
	}
	if seen > 0 { // whether the response of a long call comes in time is chance
		v.Enter(exam.Held(), "progress-increases", "progress-token")
	}
	if seen > 0 && x.Response != nil && x.Elapsed <= exam.Long {
		v.Check(ctx, "progress-after", "", func(context.Context) exam.Outcome { return progressAfter(v, x, mark, seen) })
	}
}

// progressAfter waits a moment for progress of a call that comes after its response.
func progressAfter(v *exam.Visit, x *mcp.Exchange, mark mcp.Mark, during int) exam.Outcome {
	if !v.Stdio() || v.Sess == nil {
		return exam.Unverified("only the order on one stream is certain")
	}
	request, _ := jsonv.Parse(x.Request)
	token := request.Lookup("params", "_meta", "progressToken").String()
	time.Sleep(50 * time.Millisecond)
	n := 0
	for _, m := range v.Sess.Messages(mark) {
		params, _ := jsonv.Parse(m.Params)
		if m.Method == "notifications/progress" && params.Lookup("progressToken").String() == token {
			if n++; n > during {
				return exam.BrokenBy(verdict.Evidence{Sent: string(x.Request), Received: string(m.Raw)}, "progress came after the response")
			}
		}
	}
	return exam.Held()
}
