package plan

import (
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/spec/suite"
)

func findBlock(call suite.Invocation) suite.Block {
	switch {
	case call.Tool != "":
		return suite.Tools
	case call.URI != "":
		return suite.Resources
	case call.Prompt != "":
		return suite.Prompts
	}
	return suite.Protocol
}

// newOp compiles one invocation.
func newOp(block suite.Block, call suite.Invocation, server *Server, n *source.Node) *Op {
	op := &Op{Server: server, Pos: n.Pos}
	switch block {
	case suite.Tools:
		op.Method, op.Subject = "tools/call", call.Tool
		op.Params = makeNamedParams("name", call.Tool, convertArgs(call.Args))
		if strings.Contains(call.Tool, "/") {
			op.MaybeMethod = true
			if call.Args != nil {
				op.Args = call.Args.JSON().Append(nil)
			}
		}
	case suite.Resources:
		op.Method, op.Subject = "resources/read", call.URI
		op.Params = makeNamedParams("uri", call.URI, jsonv.Value{})
	case suite.Prompts:
		op.Method, op.Subject = "prompts/get", call.Prompt
		op.Params = makeNamedParams("name", call.Prompt, convertPromptArgs(call.Args, n.Get("invalid_args")))
	case suite.Protocol:
		op.Method, op.Notification = call.Method, call.Notification
		if call.Params != nil {
			op.Params = call.Params.JSON().Append(nil)
		}
		if call.Raw != nil {
			op.Raw = []byte(call.Raw.Text)
		}
	}
	return op
}

// convertArgs returns arguments as JSON; the default for a tool is an empty object.
func convertArgs(args *source.Node) jsonv.Value {
	if args == nil {
		return jsonv.Object()
	}
	return args.JSON()
}

// convertPromptArgs returns the arguments of a prompt, which are text: a number or a boolean that
// replaced a placeholder becomes text, unless the test sends wrong arguments on purpose.
func convertPromptArgs(args, wrong *source.Node) jsonv.Value {
	intended := wrong != nil && wrong.Text == "true"
	if args == nil || args.Kind != source.KindMap || intended {
		return args.JSON()
	}
	out := jsonv.Object()
	for _, f := range args.Fields {
		value := f.Value.JSON()
		if text, ok := f.Value.AsText(); ok {
			value = jsonv.String(text)
		}
		out = out.With(f.Key.Text, value)
	}
	return out
}

// makeNamedParams returns params with a name or URI, and arguments unless they are absent. It
// is called for each row, so it writes JSON without building a value first.
func makeNamedParams(key, name string, args jsonv.Value) []byte {
	out := append(make([]byte, 0, 64), `{"`+key+`":`...)
	out = jsonv.AppendString(out, name)
	if !args.IsAbsent() {
		out = args.Append(append(out, `,"arguments":`...))
	}
	return append(out, '}')
}

func wait(w *suite.Wait) *Wait {
	if w == nil {
		return nil
	}
	return &Wait{Notification: w.Notification, Timeout: defaultDuration(w.Timeout, 0)}
}
