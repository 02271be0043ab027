package basics

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/run/allow"
	"mcptest/internal/run/probe/argument"
	"mcptest/internal/run/probe/exam"
)

// kind is a valid request of one kind. A server may check its version, its headers or its
// session in one place only, so rules about these are provoked with each kind.
type kind struct {
	method string
	params jsonv.Value
	other  string      // another name of the same list, or one that nothing has
	tool   jsonv.Value // absent: it calls no tool
}

// listKinds returns the lists, a call of a read-only tool, a prompt, a resource and a completion, as
// far as there are such.
func listKinds(v *exam.Visit) []kind {
	out := []kind{{method: v.FirstList()}}
	for _, l := range v.Listed {
		if l.Method != out[0].method && l.Pages[0].Result != nil {
			out = append(out, kind{method: l.Method})
		}
	}
	out = append(out, listNamedKinds(v)...)
	for _, prompt := range v.Prompts {
		args := prompt.Lookup("arguments")
		if v.Declares("completions") && args.Len() > 0 {
			ref := jsonv.ObjectOf("type", "ref/prompt", "name", prompt.Lookup("name"))
			argument := jsonv.ObjectOf("name", args.At(0).Lookup("name"), "value", "")
			return append(out, kind{method: "completion/complete", params: jsonv.ObjectOf("ref", ref, "argument", argument)})
		}
	}
	return out
}

// listNamedKinds returns a call of a read-only tool, a prompt without required arguments and a
// resource, as far as there are such. The other tool is read-only, too: a server may look at
// the header only.
func listNamedKinds(v *exam.Visit) (out []kind) {
	const nothing = "mcptest-no-such-name"
	var tools []jsonv.Value
	for _, tool := range v.Tools {
		if allow.ReadOnly(tool) && !v.Slow(tool) && !strings.Contains(tool.Lookup("inputSchema").String(), "x-mcp-header") {
			tools = append(tools, tool)
		}
	}
	if len(tools) > 0 {
		last := findLastAnswered(v, tools)
		request := kind{"tools/call", exam.Params(last, argument.Valid(last)), nothing, last}
		if first := tools[0].Lookup("name").Text(); first != last.Lookup("name").Text() {
			request.other = first
		}
		out = append(out, request)
	}
	for _, prompt := range v.Prompts {
		if prompt.Lookup("arguments").Len() == 0 {
			out = append(out, kind{method: "prompts/get", params: jsonv.ObjectOf("name", prompt.Lookup("name")), other: nothing})
			break
		}
	}
	if n := len(v.Resources); n > 0 {
		out = append(out, kind{
			method: "resources/read",
			params: jsonv.ObjectOf("uri", v.Resources[n-1].Lookup("uri")),
			other:  "mcptest:" + nothing,
		})
	}
	return out
}

// findLastAnswered returns the last tool whose call got a result; without any, the last one.
func findLastAnswered(v *exam.Visit, tools []jsonv.Value) jsonv.Value {
	for _, tool := range slices.Backward(tools) {
		if v.Answered("tools/call", exam.Params(tool, argument.Valid(tool))) {
			return tool
		}
	}
	return tools[len(tools)-1]
}

// name is what the request is about: a name or a URI, "" for none.
func (k kind) name() string {
	return protocol.NameOf(k.method, k.params.Append(nil))
}

// makeFrame returns the request as a message with an id, and counts a call that it makes.
func (k kind) makeFrame(v *exam.Visit, id int) jsonv.Value {
	if !k.tool.IsAbsent() {
		v.Policy.Call(k.tool, k.params.Lookup("arguments"))
	}
	return v.Frame(id, k.method, k.params)
}

// send sends the request over HTTP, with headers that replace its own.
func (k kind) send(ctx context.Context, v *exam.Visit, headers http.Header) *mcp.Exchange {
	return v.Tell(ctx, k.makeFrame(v, 7006), headers)
}

// ask sends the request as it is.
func (k kind) ask(ctx context.Context, v *exam.Visit) *mcp.Exchange {
	if v.Stdio() {
		return v.Raw(ctx, k.makeFrame(v, 7006))
	}
	return k.send(ctx, v, nil)
}

// findServedKinds returns the kinds that get a result as they are; without any, the list alone.
func findServedKinds(ctx context.Context, v *exam.Visit) []kind {
	all := listKinds(v)
	served := all[:1]
	for _, k := range all[1:] {
		if x := k.ask(ctx, v); x.Result != nil && !exam.Another(x) {
			served = append(served, k)
		}
	}
	return served
}

// eachKind checks a rule with each kind of request.
func eachKind(ctx context.Context, v *exam.Visit, rule string, served []kind, judge func(context.Context, kind) exam.Outcome) {
	for _, k := range served {
		v.Check(ctx, rule, k.method, func(ctx context.Context) exam.Outcome { return judge(ctx, k) })
	}
}
