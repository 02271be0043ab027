package probe

import (
	"context"
	"encoding/base64"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/check"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
)

// promptRules examines the rules of the family prompts.
type promptRules struct{ *visit }

// promptsFamily examines prompts.
func (v promptRules) promptsFamily(ctx context.Context) {
	if !v.declares("prompts") {
		return
	}
	v.check(ctx, "prompt-unknown", "", func(ctx context.Context) outcome {
		return v.expectCode(ctx, "prompts/get", jsonv.ObjectOf("name", "mcptest-no-such-prompt"), protocol.CodeInvalidParams)
	})
	for _, def := range v.prompts {
		name := def.Lookup("name").Text()
		args, lacks := jsonv.Object(), ""
		for _, a := range def.Lookup("arguments").Elems() {
			if a.Lookup("required").Bool() {
				lacks = a.Lookup("name").Text()
			}
			args = args.With(a.Lookup("name").Text(), jsonv.String("example"))
		}
		if lacks != "" {
			v.check(ctx, "prompt-arguments", "prompt "+name, func(ctx context.Context) outcome {
				return v.expectCode(ctx, "prompts/get", jsonv.ObjectOf("name", name, "arguments", args.Without(lacks)), protocol.CodeInvalidParams)
			})
		}
		get := func(ctx context.Context) *mcp.Exchange {
			return v.do(ctx, "prompts/get", jsonv.ObjectOf("name", name, "arguments", args))
		}
		x := get(ctx)
		if x.Result == nil || another(x) {
			why := unverified("prompt %s needs other arguments: it got %s", name, answer(x))
			v.enter("prompt-message", why)
			v.enter("prompt-content", why)
			continue
		}
		v.promptContent(ctx, "prompt "+name, x, get)
	}
}

// promptContent examines the messages of a prompt.
func (v promptRules) promptContent(ctx context.Context, subject string, x *mcp.Exchange, get func(context.Context) *mcp.Exchange) {
	examine(ctx, v.visit, "prompt-message", subject, x, get, "messages", func(m jsonv.Value) string {
		if role := m.Lookup("role").Text(); role != "user" && role != "assistant" {
			return "a message has the role " + m.Lookup("role").OrNull().Short(40)
		}
		if m.Lookup("content").Kind() != jsonv.KindObject {
			return "the content of a message is no block"
		}
		return check.Block(m.Lookup("content"))
	})
	examine(ctx, v.visit, "prompt-content", subject, x, get, "messages", func(m jsonv.Value) string {
		block := m.Lookup("content")
		if _, err := base64.StdEncoding.DecodeString(block.Lookup("data").Text()); err != nil {
			return "data is not base64: " + err.Error()
		}
		return check.Media(block)
	})
}
