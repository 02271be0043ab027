package plan

import (
	"mcptest/internal/jsonv"
	"mcptest/internal/source"
	"mcptest/internal/suite"
)

// ops compiles what a test invokes.
func (c *compiler) ops(st *suite.Test, out *Case, e entry, b suite.Bindings) {
	if out.Flow {
		c.flowOps(st, out, e, b)
		return
	}
	op := c.op(st.Block, st.Call, st.Path, out.Server, st.Node)
	op.CancelAfter, op.Wait = orDuration(st.CancelAfter, 0), wait(st.Wait)
	out.Ops = []*Op{op}
}

func blockOf(call suite.Invocation) suite.Block {
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

// op compiles one invocation.
func (c *compiler) op(block suite.Block, call suite.Invocation, _ string, server *Server, n *source.Node) *Op {
	op := &Op{Server: server, Pos: n.Pos}
	args := jsonv.Object()
	if call.Args != nil {
		args = call.Args.JSON()
	}
	member := func(k string, v jsonv.Value) jsonv.Member { return jsonv.Member{Key: k, Value: v} }
	switch block {
	case suite.Tools:
		op.Method, op.Subject = "tools/call", call.Tool
		op.Params = jsonv.Object(member("name", jsonv.String(call.Tool)), member("arguments", args)).Append(nil)
		if hasSlash(call.Tool) {
			op.MaybeMethod = true
			if call.Args != nil {
				op.Args = args.Append(nil)
			}
		}
	case suite.Resources:
		op.Method, op.Subject = "resources/read", call.URI
		op.Params = jsonv.Object(member("uri", jsonv.String(call.URI))).Append(nil)
	case suite.Prompts:
		op.Method, op.Subject = "prompts/get", call.Prompt
		ms := []jsonv.Member{member("name", jsonv.String(call.Prompt))}
		if call.Args != nil {
			ms = append(ms, member("arguments", args))
		}
		op.Params = jsonv.Object(ms...).Append(nil)
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

func wait(w *suite.Wait) *Wait {
	if w == nil {
		return nil
	}
	return &Wait{Notification: w.Notification, Timeout: orDuration(w.Timeout, 0)}
}
