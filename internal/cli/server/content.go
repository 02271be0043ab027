package server

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/term"
	"mcptest/internal/cli/option"
	"mcptest/internal/client/mcp"
	"mcptest/internal/run/inspect"
)

func readResource(ctx context.Context, l *option.Viewer, uri string) (*mcp.Exchange, error) {
	x := l.Conn.Do(ctx, "resources/read", jsonv.ObjectOf("uri", uri))
	res, err := l.Conn.ResultOf(x)
	if err != nil || l.Flags.JSON {
		return x, formatOrJSON(ctx, l, "resources/read", res, err)
	}
	var b strings.Builder
	for _, c := range res.Lookup("contents").Elems() {
		b.WriteString(formatResource(l, c))
	}
	_, err = io.WriteString(l.Streams.Out, b.String())
	return x, err
}

func getPrompt(ctx context.Context, l *option.Viewer, prompt string, args jsonv.Value) (*mcp.Exchange, error) {
	params := jsonv.ObjectOf("name", prompt)
	if args.Len() > 0 {
		params = params.With("arguments", args)
	}
	x := l.Conn.Do(ctx, "prompts/get", params)
	res, err := l.Conn.ResultOf(x)
	if err != nil {
		err = l.Conn.Unlisted(ctx, err, "prompts", prompt)
	}
	if err != nil || l.Flags.JSON {
		return x, formatOrJSON(ctx, l, "prompts/get", res, err)
	}
	var b strings.Builder
	if d := res.Lookup("description").Text(); d != "" {
		b.WriteString(l.Palette.Paint(term.Faint, l.Text(d)) + "\n")
	}
	for _, m := range res.Lookup("messages").Elems() {
		b.WriteString(l.Palette.Paint(term.Strong, l.Text(inspect.Name(m, "role"))) + ":\n" + formatContent(l, m.Lookup("content")))
	}
	_, err = io.WriteString(l.Streams.Out, b.String())
	return x, err
}

func formatOrJSON(ctx context.Context, l *option.Viewer, method string, v jsonv.Value, err error) error {
	if err != nil {
		return l.Failed(ctx, method, err)
	}
	return l.PrintJSON(l.Streams.Out, v)
}

// formatContent describes one content block: text is unchanged, other blocks are described.
func formatContent(l *option.Viewer, c jsonv.Value) string {
	switch c.Lookup("type").Text() {
	case "text":
		return l.Block("", c.Lookup("text").Text())
	case "image", "audio":
		return formatNote(l, "%s, %s", inspect.Name(c, "type"), showBlob(c.Lookup("data"), c))
	case "resource":
		return formatResource(l, c.Lookup("resource"))
	case "resource_link":
		return formatNote(l, "link to %s (%s)", inspect.Name(c, "uri"), inspect.Name(c, "name"))
	}
	return l.JSONText("", c) + "\n"
}

// formatResource describes the contents of one resource.
func formatResource(l *option.Viewer, r jsonv.Value) string {
	if text := r.Lookup("text"); text.Kind() == jsonv.KindString {
		return formatNote(l, "%s %s", inspect.Name(r, "uri"), r.Lookup("mimeType").Text()) + l.Block("", text.Text())
	}
	if blob := r.Lookup("blob"); blob.Kind() == jsonv.KindString {
		return formatNote(l, "%s, %s (use --json to see them)", inspect.Name(r, "uri"), showBlob(blob, r))
	}
	return l.JSONText("", r) + "\n"
}

func showBlob(data, of jsonv.Value) string {
	kind := of.Lookup("mimeType").Text()
	raw, err := base64.StdEncoding.DecodeString(data.Text())
	if err != nil {
		return kind + ": its data is not base64"
	}
	return fmt.Sprintf("%d bytes of %s", len(raw), cmp.Or(kind, "no type"))
}

// formatNote formats a line about the response.
func formatNote(l *option.Viewer, format string, args ...any) string {
	return l.Palette.Paint(term.Faint, l.Text(strings.TrimSpace(fmt.Sprintf("["+format, args...)))+"]") + "\n"
}
