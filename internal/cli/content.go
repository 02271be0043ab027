package cli

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"mcptest/internal/jsonv"
	"mcptest/internal/mcp/protocol"
	"mcptest/internal/source"
	"mcptest/internal/term"
)

// nearest is the end of a message about a name that does not exist: the one
// that was meant, or all of them when they are few.
func nearest(word string, names []string) string {
	if hint := source.DidYouMean(word, names); hint != "" {
		return source.Aside(hint)
	}
	if len(names) == 0 || len(names) > maxNamed {
		return ""
	}
	return "; it has " + strings.Join(names, ", ")
}

// unlisted begins the message of a request that the server refused with the
// reason that explains it: there is no such tool or prompt.
func (l *look) unlisted(ctx context.Context, err error, lists, what, called string) error {
	var refused *protocol.RPCError
	if errors.As(err, &refused) && refused.Code != protocol.CodeInvalidParams && refused.Code != protocol.CodeMethodNotFound || !l.offers(lists) {
		return err
	}
	list, failed := l.pages(ctx, lists+"/list", lists)
	names := named(list, "name")
	if failed != nil || slices.Contains(names, called) {
		return err
	}
	return fmt.Errorf("the server has no %s %q%s: %w", what, called, nearest(called, names), err)
}

func (l *look) readResource(ctx context.Context, uri string) error {
	res, err := l.result(ctx, "resources/read", jsonv.Object(jsonv.Member{Key: "uri", Value: jsonv.String(uri)}))
	if err != nil || l.f.json {
		return l.orJSON(ctx, "resources/read", res, err)
	}
	var b strings.Builder
	for _, c := range res.Lookup("contents").Elems() {
		b.WriteString(l.resource(c))
	}
	_, err = io.WriteString(l.s.Out, b.String())
	return err
}

func (l *look) getPrompt(ctx context.Context, prompt string, args jsonv.Value) error {
	params := jsonv.Object(jsonv.Member{Key: "name", Value: jsonv.String(prompt)})
	if args.Len() > 0 {
		params = params.With("arguments", args)
	}
	res, err := l.result(ctx, "prompts/get", params)
	if err != nil {
		err = l.unlisted(ctx, err, "prompts", "prompt", prompt)
	}
	if err != nil || l.f.json {
		return l.orJSON(ctx, "prompts/get", res, err)
	}
	var b strings.Builder
	if d := res.Lookup("description").Text(); d != "" {
		b.WriteString(l.palette.Paint(term.Faint, l.text(d)) + "\n")
	}
	for _, m := range res.Lookup("messages").Elems() {
		b.WriteString(l.palette.Paint(term.Strong, l.text(name(m, "role"))) + ":\n" + l.content(m.Lookup("content")))
	}
	_, err = io.WriteString(l.s.Out, b.String())
	return err
}

func (l *look) orJSON(ctx context.Context, method string, v jsonv.Value, err error) error {
	if err != nil {
		return l.failed(ctx, method, err)
	}
	return l.printJSON(l.s.Out, v)
}

// content is one content block for people: text as it is, and of everything
// else what it is.
func (l *look) content(c jsonv.Value) string {
	switch c.Lookup("type").Text() {
	case "text":
		return l.block("", c.Lookup("text").Text())
	case "image", "audio":
		return l.note("%s, %s", name(c, "type"), l.blob(c.Lookup("data"), c))
	case "resource":
		return l.resource(c.Lookup("resource"))
	case "resource_link":
		return l.note("link to %s (%s)", name(c, "uri"), name(c, "name"))
	}
	return l.jsonText("", c) + "\n"
}

// resource is the contents of one resource.
func (l *look) resource(r jsonv.Value) string {
	if text := r.Lookup("text"); text.Kind() == jsonv.KindString {
		return l.note("%s %s", name(r, "uri"), r.Lookup("mimeType").Text()) + l.block("", text.Text())
	}
	if blob := r.Lookup("blob"); blob.Kind() == jsonv.KindString {
		return l.note("%s, %s (use --json to see them)", name(r, "uri"), l.blob(blob, r))
	}
	return l.jsonText("", r) + "\n"
}

func (l *look) blob(data, of jsonv.Value) string {
	kind := of.Lookup("mimeType").Text()
	raw, err := base64.StdEncoding.DecodeString(data.Text())
	if err != nil {
		return kind + ": its data is not base64"
	}
	return fmt.Sprintf("%d bytes of %s", len(raw), orText(kind, "no type"))
}

func orText(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// note is a line of ours about what the server sent.
func (l *look) note(format string, args ...any) string {
	return l.palette.Paint(term.Faint, l.text(strings.TrimSpace(fmt.Sprintf("["+format, args...)))+"]") + "\n"
}
