package server

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/cli/option"
	"mcptest/internal/client/toolresult"
)

// asFlag is the flag --as.
type asFlag struct{ client string }

func (a *asFlag) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.client, "as", "", "print the result as this `client` hands it to a model: claude-code or codex")
}

// check refuses a client whose handling of results is not known, and declares the client on
// the connection.
func (a *asFlag) check(f *option.TargetFlags) error {
	if a.client == "" {
		return nil
	}
	if !slices.Contains(toolresult.Clients, a.client) {
		return option.Invalid("--as: it is not known how %q hands results to a model (%s)", a.client, source.Known(a.client, toolresult.Clients))
	}
	if f.Client == "" {
		f.Client = a.client
	}
	return nil
}

// writeHandout returns what a client hands to the model of a tool's result.
func writeHandout(ctx context.Context, l *option.Viewer, client, tool string, res jsonv.Value) toolresult.Handout {
	var definition jsonv.Value
	if l.Conn.Offers("tools") {
		tools, _ := l.Conn.List(ctx, "tools/list", "tools") // without it, no limit is raised
		for _, t := range tools {
			if t.Lookup("name").Text() == tool {
				definition = t
			}
		}
	}
	return toolresult.As(client, tool, definition, res)
}

// printHandout prints what a model reads, and on standard error what it costs and lacks.
func printHandout(ctx context.Context, l *option.Viewer, client, tool string, res jsonv.Value) error {
	h := writeHandout(ctx, l, client, tool, res)
	out := ""
	if h.Text != "" {
		out = l.Block("", h.Text)
	}
	for _, image := range h.Images {
		out += formatNote(l, "image: "+image)
	}
	if out == "" {
		out = formatNote(l, "nothing")
	}
	if _, err := io.WriteString(l.Streams.Out, out); err != nil {
		return err
	}
	fmt.Fprintf(l.Streams.Err, "%s hands the model about %d tokens\n", client, h.Tokens)
	for _, n := range h.Notes {
		fmt.Fprintln(l.Streams.Err, "note: "+l.Text(n))
	}
	return nil
}

// formatHandout is the member as of --json.
func formatHandout(client string, h toolresult.Handout) jsonv.Value {
	return jsonv.ObjectOf(
		"client", client,
		"text", h.Text,
		"images", jsonv.List(h.Images, jsonv.String),
		"tokens", h.Tokens,
		"notes", jsonv.List(h.Notes, jsonv.String),
	)
}
