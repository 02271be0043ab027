package api

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
	"mcptest/internal/offer/surface"
	"mcptest/internal/ui/live"
)

// The requests of the tab Call.

type toCall struct {
	ofItem
	Arguments json.RawMessage `json:"arguments"`
	Meta      json.RawMessage `json:"meta"`
	Confirm   string          `json:"confirm"`
}

// call makes a call, or returns what a person must confirm first.
func (a *API) call(_ context.Context, in toCall) (jsonv.Value, error) {
	args, err := readObject("arguments", in.Arguments)
	if err != nil {
		return jsonv.Value{}, err
	}
	meta, err := readObject("meta", in.Meta)
	if err != nil {
		return jsonv.Value{}, err
	}
	_, def, key, err := a.find(in.ofItem)
	if err != nil {
		return jsonv.Value{}, err
	}
	w := live.Wanted{Server: in.Server, Name: def.Lookup(key).Text(), Args: args, Meta: meta, Confirm: in.Confirm}
	if args.IsAbsent() {
		w.Args = jsonv.Object()
	}
	switch surface.Kind(in.List) {
	case surface.Tool:
		w.Kind = live.CallTool
	case surface.Prompt:
		w.Kind = live.GetPrompt
	case surface.Template:
		w.Kind = live.ReadResource
		if w.Name, err = expand(w.Name, w.Args); err != nil {
			return jsonv.Value{}, err
		}
		w.Args = jsonv.Object()
	default:
		w.Kind, w.Args = live.ReadResource, jsonv.Object()
	}
	id, confirm, err := a.o.Hub.Send(w)
	if confirm != nil {
		return jsonv.ObjectOf("confirm", confirm.Token, "why", confirm.Why, "arguments", a.indent(w.Args)), nil
	}
	return jsonv.ObjectOf("call", id), err
}

// expand fills the variables of a URI template; only simple ones are known.
func expand(template string, values jsonv.Value) (string, error) {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(template, "{")
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		name, after, closed := strings.Cut(rest, "}")
		raw := strings.HasPrefix(name, "+")
		value := values.Lookup(strings.TrimPrefix(name, "+"))
		if !closed || value.Kind() != jsonv.KindString {
			return "", &live.RefusedError{Reason: fmt.Sprintf("the template needs a text for %q", name)}
		}
		out.WriteString(escapeText(value.Text(), raw))
		template = after
	}
}

// escapeText percent-encodes a value of a template; raw keeps the characters of URIs.
func escapeText(text string, raw bool) string {
	keep := "-._~"
	if raw {
		keep += ":/?#[]@!$&'()*+,;=%"
	}
	var out strings.Builder
	for _, c := range []byte(text) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if letter || strings.IndexByte(keep, c) >= 0 {
			out.WriteByte(c)
			continue
		}
		fmt.Fprintf(&out, "%%%02X", c)
	}
	return out.String()
}

type ofCall struct {
	Call int `json:"call"`
}

func (a *API) cancel(_ context.Context, in ofCall) (jsonv.Value, error) {
	return done, a.o.Hub.Cancel(in.Call)
}

// callView is a call in the state: without its result.
func callView(c live.Call) jsonv.Value {
	return jsonv.ObjectOf(
		"id", c.ID, "server", c.Wanted.Server, "kind", c.Wanted.Kind, "name", c.Wanted.Name, "done", c.Done,
		"started", c.Start.UnixMilli(), "beside", viewBeside(c.Wanted.Beside),
		"progress", c.Progress(), "outcome", describeOutcome(c),
	)
}

// viewBeside returns where a call was made again; absent if it was made in the open session.
func viewBeside(b *live.Beside) jsonv.Value {
	if b == nil {
		return jsonv.Value{}
	}
	return jsonv.ObjectOf("call", b.Call, "protocol", b.Version)
}

// describeOutcome says how a call ended in a word or two.
func describeOutcome(c live.Call) string {
	switch {
	case !c.Done:
		return "running"
	case c.Gone:
		return "no longer kept"
	case c.Cause != "":
		return "no response"
	case c.Exchange.RPCError() != nil:
		return "error"
	case c.Result.Lookup("isError").Bool():
		return "refused"
	}
	return "result"
}

// showResult returns how a call ended.
func (a *API) showResult(_ context.Context, in ofCall) (jsonv.Value, error) {
	c, err := a.o.Hub.Call(in.Call)
	if err != nil {
		return jsonv.Value{}, err
	}
	out := jsonv.ObjectOf(
		"call", callView(c),
		"arguments", c.Wanted.Args,
		"cause", textOrAbsent(c.Cause),
		"detail", jsonv.List(c.Detail, jsonv.String),
		"warnings", jsonv.List(c.Warnings, jsonv.String),
		"findings", viewFindings(c.Findings),
		"readOnly", findObjection(surface.Tool, c.Tool) == "",
	)
	if c.Exchange == nil {
		return out, nil
	}
	out = out.With("ms", jsonv.From(float64(c.Exchange.Elapsed.Microseconds())/1000))
	out = out.With("violations", jsonv.List(c.Exchange.Violations, viewViolation))
	out = out.With("keep", jsonv.Bool(c.Cause == ""))
	if e := c.Exchange.RPCError(); e != nil && c.Cause == "" {
		out = out.With("error", jsonv.ObjectOf("code", e.Code, "message", e.Message))
	}
	if c.Result.IsAbsent() {
		return out.With("json", cutPiece(a.formatResult(c), 0)), nil
	}
	out = out.With("blocks", a.viewBlocks(c.Result)).With("tokens", jsonv.From(countTokens(c)))
	return out.With("json", cutPiece(a.formatResult(c), 0)), nil
}

// longResult is from how many bytes on a result is only estimated.
const longResult = 1 << 20

// countTokens estimates the tokens of a result.
func countTokens(c live.Call) int {
	if n := len(c.Exchange.Result); n > longResult {
		return n / 4
	}
	return surface.Tokens(c.Result)
}

// formatResult returns the result or the error of a call as indented JSON, masked.
func (a *API) formatResult(c live.Call) string {
	return a.texts.get(fmt.Sprintf("call %d", c.ID), func() string {
		if c.Exchange == nil {
			return ""
		}
		if c.Result.IsAbsent() {
			v, err := jsonv.Parse(c.Exchange.Error)
			if err != nil {
				return string(a.o.Redactor.Bytes(c.Exchange.Response))
			}
			return a.indent(v)
		}
		return a.indent(c.Result)
	})
}

type ofText struct {
	Call int `json:"call"`
	From int `json:"from"`
}

// showText returns a further piece of the result of a call.
func (a *API) showText(_ context.Context, in ofText) (jsonv.Value, error) {
	c, err := a.o.Hub.Call(in.Call)
	if err != nil || !c.Done {
		return jsonv.Value{}, &live.RefusedError{Reason: "there is no result"}
	}
	return cutPiece(a.formatResult(c), in.From), nil
}

// maxBlocks bounds the parts of a result that are shown one by one.
const maxBlocks = 200

// viewBlocks returns what a person sees of the content of a result.
func (a *API) viewBlocks(result jsonv.Value) jsonv.Value {
	var list []jsonv.Value
	for _, key := range []string{"content", "contents", "messages"} {
		for i, c := range result.Lookup(key).Elems() {
			if len(list) == maxBlocks {
				more := jsonv.ObjectOf("type", "note", "text", "more parts are not shown here; the JSON has them")
				return jsonv.Array(append(list, more)...)
			}
			list = append(list, a.viewBlock(key, c).With("at", jsonv.String(textOf(key, i, c))))
		}
	}
	return jsonv.Array(list...)
}

// textOf returns the JSON pointer of the text of a block.
func textOf(key string, i int, c jsonv.Value) string {
	at := "/" + key + "/" + strconv.Itoa(i)
	if key == "messages" {
		at += "/content"
		c = c.Lookup("content")
	}
	if c.Lookup("type").Text() == "resource" {
		at += "/resource"
	}
	return at + "/text"
}

func (a *API) viewBlock(key string, c jsonv.Value) jsonv.Value {
	role := jsonv.Value{}
	if key == "messages" {
		role, c = c.Lookup("role"), c.Lookup("content")
	}
	kind := c.Lookup("type").Text()
	if kind == "resource" {
		c = c.Lookup("resource")
	}
	if kind == "" {
		kind = "resource"
	}
	text := c.Lookup("text").Text()
	out := jsonv.ObjectOf(
		"type", kind, "role", role, "uri", c.Lookup("uri"), "name", c.Lookup("name"), "mime", c.Lookup("mimeType"),
	)
	if !c.Lookup("text").IsAbsent() {
		begin := strings.ToValidUTF8(a.o.Redactor.Cut(text[:min(len(text), 2*pieceSize)]), "\uFFFD")
		out = out.With("text", cutPiece(begin, 0).Lookup("text")).With("size", jsonv.From(len(text)))
	}
	data := c.Lookup("data")
	if data.IsAbsent() {
		data = c.Lookup("blob")
	}
	if shown := data.Text(); shown != "" {
		out = out.With("bytes", jsonv.From(len(shown)*3/4))
		if len(shown) < maxBody && a.o.Redactor.String(shown) == shown {
			out = out.With("data", data)
		}
	}
	return out
}

func viewViolation(v protocol.Violation) jsonv.Value {
	return jsonv.ObjectOf(
		"kind", v.Kind, "message", v.Msg, "excerpt", v.Excerpt, "rule", v.Rule(), "tolerated", v.Tolerated,
	)
}
