package demo

import (
	"context"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
	"mcptest/internal/server/mcpserver"
)

// NewSession returns a handler for one more client of the same library.
func (a *Adapter) NewSession() mcpserver.Handler {
	s := session{}
	return mcpserver.HandlerFunc(func(_ context.Context, req *mcpserver.Request) *mcpserver.Reply { return a.handle(s, req) })
}

// Handle answers one message of the only client.
func (a *Adapter) Handle(_ context.Context, req *mcpserver.Request) *mcpserver.Reply {
	return a.handle(a.own, req)
}

func (a *Adapter) handle(s session, req *mcpserver.Request) *mcpserver.Reply {
	if req.Notification {
		return nil
	}
	switch req.Method {
	case "initialize":
		params, _ := jsonv.Parse(req.Params)
		version := params.Lookup("protocolVersion").Text()
		if !strings.HasPrefix(version, "202") {
			version = "2025-06-18"
		}
		return newReply(jsonv.ObjectOf(
			"protocolVersion", version,
			"capabilities", jsonv.ObjectOf("tools", jsonv.Object()),
			"serverInfo", jsonv.ObjectOf("name", "demo-library", "version", "1.0.0"),
		))
	case "ping":
		return newReply(jsonv.Object())
	case "tools/list":
		return newReply(jsonv.ObjectOf("tools", jsonv.Array(a.tools...)))
	case "tools/call":
		return a.callTool(s, req)
	}
	return &mcpserver.Reply{Error: &protocol.RPCError{Code: protocol.CodeMethodNotFound, Message: "Method not found"}}
}

func newReply(v jsonv.Value) *mcpserver.Reply { return &mcpserver.Reply{Result: v.Append(nil)} }

func (a *Adapter) callTool(s session, req *mcpserver.Request) *mcpserver.Reply {
	params, err := jsonv.Parse(req.Params)
	tool := params.Lookup("name").Text()
	if err != nil || !slices.ContainsFunc(a.tools, func(t jsonv.Value) bool { return t.Lookup("name").Text() == tool }) {
		return &mcpserver.Reply{Error: &protocol.RPCError{Code: protocol.CodeInvalidParams, Message: "There is no tool " + tool}}
	}
	a.mu.Lock()
	a.calls++
	noisy := a.is("noise") && a.calls == 5
	a.mu.Unlock()
	if noisy {
		_ = req.WriteRaw([]byte("the library is open\n"))
	}
	args := params.Lookup("arguments")
	if a.is("bare-introspection") && args.Lookup("operation").Text() == "introspect" {
		return a.answerBare(args)
	}
	env := a.answer(s, tool, args)
	code := env.Lookup("error", "code").Text()
	if a.is("rpc-errors") && code == "NOT_FOUND_OPERATION" {
		message := env.Lookup("error", "message").Text()
		return &mcpserver.Reply{Error: &protocol.RPCError{Code: protocol.CodeInternal, Message: message}}
	}
	result := newToolResult(env, code != "" && a.is("flags-failures"))
	if a.is("structured-differs") {
		result = result.With("structuredContent", jsonv.ObjectOf("success", true, "data", nil))
	}
	return newReply(result)
}

// answerBare returns the introspection in a dialect: no query, details inside the list.
func (a *Adapter) answerBare(args jsonv.Value) *mcpserver.Reply {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, asked := args.Lookup("params").Get("query"); asked {
		return newReply(newToolResult(a.fail(refuse("VALIDATION_UNKNOWN_PARAM", "introspect takes no parameter 'query'.")), false))
	}
	return newReply(newToolResult(newSuccess(jsonv.ObjectOf("operations", jsonv.List(a.operations, a.describeOperation)), nil), false))
}

func (a *Adapter) addTools() {
	if a.o.Mode != ModeSingle {
		for _, c := range categories {
			a.tools = append(a.tools, a.describeTool(nameTool(c), c))
		}
	}
	if a.o.Mode != ModeCrude {
		a.tools = append(a.tools, a.describeTool(singleTool, ""))
	}
}

func (a *Adapter) describeTool(name, category string) jsonv.Value {
	var ops []string
	for _, op := range a.operations {
		if category == "" || op.Category == category {
			ops = append(ops, op.Name)
		}
	}
	if a.is("hidden-operation") && category == "READ" {
		ops = append(ops, "peek_book")
	}
	doc := "The library's " + strings.ToLower(category) + " operations."
	if category == "" {
		doc = "Every operation of the library."
	}
	if !a.is("tool-silent") {
		doc += " Call introspect with query operations to learn about them."
	}
	doc += " Supported operations: " + strings.Join(ops, ", ") + "."
	of := func(typ string) jsonv.Value { return jsonv.ObjectOf("type", typ) }
	properties := jsonv.ObjectOf("operation", of("string"), "params", of("object"), "operations", of("array"))
	schema := of("object").With("properties", properties)
	if !a.is("tool-schema") {
		schema = schema.With("required", jsonv.From([]string{"operation"}))
	}
	readOnly := category == "READ" || category == "DELETE" && a.is("tool-hints")
	destructive := !readOnly && category != "CREATE"
	hints := jsonv.ObjectOf("readOnlyHint", readOnly, "destructiveHint", destructive)
	return jsonv.ObjectOf("name", name, "description", doc, "inputSchema", schema, "annotations", hints)
}
