package features

import (
	"context"
	"encoding/base64"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/check"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/run/probe/exam"
)

// Prompts examines prompts and their messages.
func Prompts(ctx context.Context, v *exam.Visit) {
	if !v.Declares("prompts") {
		return
	}
	v.Refuses(ctx, "prompt-unknown", "", "prompts/get", jsonv.ObjectOf("name", "mcptest-no-such-prompt"), protocol.CodeInvalidParams)
	for _, def := range v.Prompts {
		name := def.Lookup("name").Text()
		args, lacks, subject := jsonv.Object(), "", "prompt "+name
		for _, a := range def.Lookup("arguments").Elems() {
			if a.Lookup("required").Bool() {
				lacks = a.Lookup("name").Text()
			}
			args = args.With(a.Lookup("name").Text(), jsonv.String("example"))
		}
		if lacks != "" {
			v.Refuses(ctx, "prompt-arguments", subject, "prompts/get", jsonv.ObjectOf("name", name, "arguments", args.Without(lacks)), protocol.CodeInvalidParams)
		}
		get := func(ctx context.Context) *mcp.Exchange {
			return v.Do(ctx, "prompts/get", jsonv.ObjectOf("name", name, "arguments", args))
		}
		x := get(ctx)
		if x.Result == nil || exam.Another(x) {
			v.Enter(exam.Unverified("prompt %s needs other arguments: it got %s", name, exam.Answer(x)), "prompt-message", "prompt-content")
			continue
		}
		v.Elements(ctx, "prompt-message", subject, x, get, "messages", func(m jsonv.Value) string {
			if role := m.Lookup("role"); role.Text() != "user" && role.Text() != "assistant" {
				return "a message has the role " + role.OrNull().Short(40)
			}
			if m.Lookup("content").Kind() != jsonv.KindObject {
				return "the content of a message is no block"
			}
			return check.Block(m.Lookup("content"))
		})
		v.Elements(ctx, "prompt-content", subject, x, get, "messages", func(m jsonv.Value) string {
			block := m.Lookup("content")
			if _, err := base64.StdEncoding.DecodeString(block.Lookup("data").Text()); err != nil {
				return "data is not base64: " + err.Error()
			}
			return check.Media(block)
		})
	}
}
