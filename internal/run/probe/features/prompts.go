package features

import (
	"context"

	"mcptest/internal/base/jsonv"
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
		x := v.Do(ctx, "prompts/get", jsonv.ObjectOf("name", name, "arguments", args)) // the examiner reads it
		if x.Result == nil || exam.Another(x) {
			v.EnterAbout(subject, exam.Unverified("prompt %s needs other arguments: it got %s", name, exam.Answer(x)), "prompt-message", "prompt-content")
		}
	}
}
