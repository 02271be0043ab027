package cli

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"strings"

	"mcptest/internal/inspect"
	"mcptest/internal/jsonv"
	"mcptest/internal/term"
)

func (l *viewer) readResource(ctx context.Context, uri string) error {
	res, err := l.conn.Result(ctx, "resources/read", jsonv.ObjectOf("uri", uri))
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

func (l *viewer) getPrompt(ctx context.Context, prompt string, args jsonv.Value) error {
	params := jsonv.ObjectOf("name", prompt)
	if args.Len() > 0 {
		params = params.With("arguments", args)
	}
	res, err := l.conn.Result(ctx, "prompts/get", params)
	if err != nil {
		err = l.conn.Unlisted(ctx, err, "prompts", prompt)
	}
	if err != nil || l.f.json {
		return l.orJSON(ctx, "prompts/get", res, err)
	}
	var b strings.Builder
	if d := res.Lookup("description").Text(); d != "" {
		b.WriteString(l.palette.Paint(term.Faint, l.text(d)) + "\n")
	}
	for _, m := range res.Lookup("messages").Elems() {
		b.WriteString(l.palette.Paint(term.Strong, l.text(inspect.Name(m, "role"))) + ":\n" + l.content(m.Lookup("content")))
	}
	_, err = io.WriteString(l.s.Out, b.String())
	return err
}

func (l *viewer) orJSON(ctx context.Context, method string, v jsonv.Value, err error) error {
	if err != nil {
		return l.failed(ctx, method, err)
	}
	return l.printJSON(l.s.Out, v)
}

// content is one content block for people: text as it is, and of everything
// else what it is.
func (l *viewer) content(c jsonv.Value) string {
	switch c.Lookup("type").Text() {
	case "text":
		return l.block("", c.Lookup("text").Text())
	case "image", "audio":
		return l.note("%s, %s", inspect.Name(c, "type"), l.blob(c.Lookup("data"), c))
	case "resource":
		return l.resource(c.Lookup("resource"))
	case "resource_link":
		return l.note("link to %s (%s)", inspect.Name(c, "uri"), inspect.Name(c, "name"))
	}
	return l.jsonText("", c) + "\n"
}

// resource is the contents of one resource.
func (l *viewer) resource(r jsonv.Value) string {
	if text := r.Lookup("text"); text.Kind() == jsonv.KindString {
		return l.note("%s %s", inspect.Name(r, "uri"), r.Lookup("mimeType").Text()) + l.block("", text.Text())
	}
	if blob := r.Lookup("blob"); blob.Kind() == jsonv.KindString {
		return l.note("%s, %s (use --json to see them)", inspect.Name(r, "uri"), l.blob(blob, r))
	}
	return l.jsonText("", r) + "\n"
}

func (l *viewer) blob(data, of jsonv.Value) string {
	kind := of.Lookup("mimeType").Text()
	raw, err := base64.StdEncoding.DecodeString(data.Text())
	if err != nil {
		return kind + ": its data is not base64"
	}
	return fmt.Sprintf("%d bytes of %s", len(raw), cmp.Or(kind, "no type"))
}

// note is a line about what the server sent.
func (l *viewer) note(format string, args ...any) string {
	return l.palette.Paint(term.Faint, l.text(strings.TrimSpace(fmt.Sprintf("["+format, args...)))+"]") + "\n"
}
