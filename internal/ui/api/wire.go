package api

import (
	"context"
	"fmt"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/shellwords"
	"mcptest/internal/client/protocol"
	"mcptest/internal/ui/live"
)

// The requests of the tab Wire.

// shownText bounds a text in a row, in bytes.
const shownText = 2 << 10

// viewRow returns a row without its bytes.
func (a *API) viewRow(r live.Row) jsonv.Value {
	text := r.Text
	if text == "" && (r.Kind == live.NoMessage || r.Method == "notifications/message") {
		text = string(r.Raw[:min(len(r.Raw), shownText)])
	}
	text = a.o.Redactor.Cut(text)
	kinds := func(list []protocol.Violation) jsonv.Value {
		if len(list) == 0 {
			return jsonv.Value{}
		}
		return jsonv.List(list, func(v protocol.Violation) jsonv.Value {
			return jsonv.ObjectOf("kind", v.Kind, "message", v.Msg, "tolerated", v.Tolerated)
		})
	}
	out := jsonv.ObjectOf(
		"seq", r.Seq,
		"at", r.At.UnixMilli(),
		"server", r.Server,
		"kind", string(r.Kind),
		"out", r.ToServer,
		"method", textOrAbsent(r.Method),
		"id", textOrAbsent(r.ID),
		"bytes", r.Size,
		"text", textOrAbsent(text[:min(len(text), shownText)]),
		"violations", kinds(r.Violations),
		"withdrawn", kinds(r.Withdrawn),
	)
	if r.Took >= 0 {
		out = out.With("ms", jsonv.From(float64(r.Took.Microseconds())/1000))
	}
	if r.Status != 0 {
		out = out.With("status", jsonv.From(r.Status))
	}
	if r.Of != 0 {
		out = out.With("of", jsonv.From(r.Of))
	}
	return out
}

type ofFrame struct {
	Seq  int64 `json:"seq"`
	From int   `json:"from"`
}

// frame returns the bytes of a row, and what is wrong with it.
func (a *API) frame(_ context.Context, in ofFrame) (jsonv.Value, error) {
	r, ok := a.o.Hub.Feed.Row(in.Seq)
	if !ok {
		return jsonv.Value{}, &live.RefusedError{Reason: "this row is no longer kept"}
	}
	out := a.frameView(fmt.Sprintf("row %d", r.Seq), r, in.From)
	if command := a.command(r); command != "" {
		out = out.With("command", jsonv.String(command))
	}
	return out, nil
}

// frameView returns the bytes of a row from a byte on, and what is wrong with it. key names
// the row.
func (a *API) frameView(key string, r live.Row, from int) jsonv.Value {
	raw := a.texts.get(key, func() string {
		if r.Raw == nil {
			return a.o.Redactor.String(r.Text)
		}
		return string(a.o.Redactor.Bytes(r.Raw))
	})
	out := jsonv.ObjectOf("raw", cutPiece(raw, from), "violations", jsonv.List(r.Violations, viewViolation))
	if v, err := jsonv.Parse([]byte(raw)); err == nil && len(raw) <= pieceSize {
		out = out.With("parsed", jsonv.String(a.indent(v)))
	}
	return out
}

// command returns the command line that makes the call of a row again; "" if it is none.
func (a *API) command(r live.Row) string {
	if r.Kind != live.Request || !r.ToServer || r.Method != "tools/call" {
		return ""
	}
	v, err := jsonv.Parse(r.Raw)
	usage := a.o.Usage(r.Server)
	if err != nil || usage == "" {
		return ""
	}
	args := v.Lookup("params", "arguments")
	words := []string{"mcptest", "call", v.Lookup("params", "name").Text()}
	if args.Len() > 0 {
		words = append(words, "--args-json", string(a.encodeMasked(args)))
	}
	return a.o.Redactor.String(shellwords.QuoteAllForShell(words)) + usage
}
