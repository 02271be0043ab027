package server

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
	"mcptest/internal/base/term"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/keeping"
	"mcptest/internal/cli/option"
	"mcptest/internal/offer/surface"
	"mcptest/internal/run/inspect"
	"mcptest/internal/spec/draft"
)

// The commands that list what a server offers: tools, resources, prompts.

// NewToolsCmd returns the command `mcptest tools`.
func NewToolsCmd(s cmdutil.Streams) *cobra.Command {
	var f option.TargetFlags
	var table tableFlags
	var tokens bool
	cmd := &cobra.Command{
		Use: "tools [NAME]" + option.TargetUse, SuggestFor: []string{"list", "ls", "inspect", "inspector"},
		Short: "List a server's tools, or show one of them",
		Long: `List the tools of a server with their arguments (* marks required ones), or show one tool in full.

-f md prints a Markdown table, sorted by name, with required arguments in bold. --write FILE updates the table in FILE
between the lines <!-- mcptest:tools --> and <!-- /mcptest:tools -->, and --check FILE compares it. A file with the
tables of several servers names each in its marker: <!-- mcptest:tools server=NAME -->.

Exit codes: 0 the server responded, 1 it did not, 2 invalid command line or markers, 4 FILE could not be written,
5 refused in CI, 6 the table in FILE is out of date.`,
		Example: `  mcptest tools -- npx -y @modelcontextprotocol/server-everything
  mcptest tools --check README.md -- node dist/server.js
  mcptest tools --url https://mcp.example.com/mcp -H 'Authorization: Bearer …'
  mcptest tools search --server api --config suite.yaml`,
	}
	table.add(cmd)
	cmd.Flags().BoolVar(&tokens, "tokens", false, "list how many tokens each tool takes in the context of a model, an estimate")
	for _, other := range []string{"write", "check", "format"} {
		cmd.MarkFlagsMutuallyExclusive("tokens", other)
	}
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if n := cmd.ArgsLenAtDash(); n >= 0 {
			args = args[:n]
		}
		return table.validate(&f, args)
	}
	return addCommand(&f, cmd, s, func(ctx context.Context, l *option.Viewer, own []string) error {
		if table.format == "md" || table.check+table.write != "" {
			return table.writeTable(ctx, l)
		}
		tools, err := listAll(ctx, l, "tools/list", "tools")
		switch {
		case err != nil:
			return err
		case tokens:
			offer := &surface.Offer{Lists: map[surface.Kind][]jsonv.Value{surface.Tool: tools}}
			newSurface(l, offer).WriteTokens(l.Streams.Out, l.Flags.JSON)
			return nil
		case len(own) == 1:
			return showTool(l, tools, own[0])
		}
		return showTools(l, tools)
	})
}

// addCommand adds the flags and the RunE of a command with at most one name and a
// server.
func addCommand(f *option.TargetFlags, cmd *cobra.Command, s cmdutil.Streams, fn func(ctx context.Context, l *option.Viewer, own []string) error) *cobra.Command {
	f.Add(cmd)
	option.AddClient(cmd, &f.Client)
	return option.AddOutput(cmd, s, f.Run(1, func(cmd *cobra.Command, s cmdutil.Streams, own, argv []string) error {
		return f.With(cmd, s, argv, func(ctx context.Context, l *option.Viewer) error { return fn(ctx, l, own) })
	}))
}

// NewResourcesCmd returns the command `mcptest resources`.
func NewResourcesCmd(s cmdutil.Streams) *cobra.Command {
	var f option.TargetFlags
	var k keeping.Flags
	cmd := &cobra.Command{
		Use:   "resources [URI]" + option.TargetUse,
		Short: "List a server's resources and templates, or read one of them",
		Long: `List the resources and resource templates of a server, or read one resource.

--keep SUITE inserts the read resource as a test into a suite, as mcptest call does.

Exit codes: 0 the server responded, or its answer was kept, 1 it did not, 2 invalid command line, or nothing was kept,
5 --keep in CI.`,
		Example: `  mcptest resources -- npx -y @modelcontextprotocol/server-everything
  mcptest resources file:///notes.txt --url http://localhost:8080/mcp`,
	}
	f.Add(cmd)
	option.AddClient(cmd, &f.Client)
	k.Add(cmd)
	return option.AddOutput(cmd, s, f.Run(1, func(cmd *cobra.Command, s cmdutil.Streams, own, argv []string) error {
		if len(own) == 0 && k.Suite != "" {
			return option.Invalid("--keep requires the URI of a resource")
		}
		keeper, err := k.Begin(s, &f.SuiteFlags)
		if err != nil {
			return err
		}
		return f.With(cmd, s, argv, func(ctx context.Context, l *option.Viewer) error {
			if len(own) == 0 {
				return showResources(ctx, l)
			}
			to, err := describeTarget(keeper, &k, l, argv)
			if err != nil {
				return err
			}
			x, err := readResource(ctx, l, own[0])
			if keeper == nil {
				return err
			}
			return keep(ctx, keeper, l, to, draft.Test{Block: "resources", Subject: own[0], Args: jsonv.Object()}, x, err)
		})
	}))
}

// NewPromptsCmd returns the command `mcptest prompts`.
func NewPromptsCmd(s cmdutil.Streams) *cobra.Command {
	var f option.TargetFlags
	var a argFlags
	var k keeping.Flags
	cmd := &cobra.Command{
		Use:   "prompts [NAME]" + option.TargetUse,
		Short: "List a server's prompts, or get one of them",
		Long: `List the prompts of a server with their arguments (* marks required ones), or get one prompt.
Prompt arguments are strings: --arg name=value.

--keep SUITE inserts the prompt that was got as a test into a suite, as mcptest call does.

Exit codes: 0 the server responded, or its answer was kept, 1 it did not, 2 invalid command line, or nothing was kept,
5 --keep in CI.`,
		Example: `  mcptest prompts -- npx -y @modelcontextprotocol/server-everything
  mcptest prompts review --arg style=short --url http://localhost:8080/mcp`,
	}
	f.Add(cmd)
	option.AddClient(cmd, &f.Client)
	a.add(cmd, false)
	k.Add(cmd)
	return option.AddOutput(cmd, s, f.Run(1, func(cmd *cobra.Command, s cmdutil.Streams, own, argv []string) error {
		params, err := a.readObject(s, true)
		if err != nil {
			return err
		}
		if len(own) == 0 && params.Len() > 0 {
			return option.Invalid("--arg requires the name of a prompt")
		}
		if len(own) == 0 && k.Suite != "" {
			return option.Invalid("--keep requires the name of a prompt")
		}
		keeper, err := k.Begin(s, &f.SuiteFlags)
		if err != nil {
			return err
		}
		return f.With(cmd, s, argv, func(ctx context.Context, l *option.Viewer) error {
			if len(own) == 0 {
				return showPrompts(ctx, l)
			}
			to, err := describeTarget(keeper, &k, l, argv)
			if err != nil {
				return err
			}
			x, err := getPrompt(ctx, l, own[0], params)
			if keeper == nil {
				return err
			}
			return keep(ctx, keeper, l, to, draft.Test{Block: "prompts", Subject: own[0], Args: params}, x, err)
		})
	}))
}

// listAll reads every page of a list; it has reported its error.
func listAll(ctx context.Context, l *option.Viewer, method, key string) ([]jsonv.Value, error) {
	items, err := l.Conn.List(ctx, method, key)
	if err != nil {
		if capability, _, _ := strings.Cut(method, "/"); !l.Conn.Offers(capability) {
			err = fmt.Errorf("the server does not support %s (it does not declare the capability): %w", capability, err)
		}
		return nil, l.Failed(ctx, method, err)
	}
	return items, nil
}

func showTools(l *option.Viewer, tools []jsonv.Value) error {
	if l.Flags.JSON {
		return l.PrintJSON(l.Streams.Out, jsonv.ObjectOf("tools", jsonv.Array(tools...)))
	}
	rows := lists.Map(tools, func(t jsonv.Value) []string {
		return []string{inspect.Name(t, "name"), formatSignature(t.Lookup("inputSchema")), cutFirstLine(t)}
	})
	return writeTable(l, "tool", []string{"TOOL", "ARGUMENTS", "DESCRIPTION"}, rows)
}

func showResources(ctx context.Context, l *option.Viewer) error {
	resources, err := listAll(ctx, l, "resources/list", "resources")
	if err != nil {
		return err
	}
	// Many servers do not implement templates: that is not an error.
	var templates []jsonv.Value
	if x := l.Conn.Do(ctx, "resources/templates/list", jsonv.Value{}); inspect.ExchangeError(x) == nil {
		if templates, err = listAll(ctx, l, "resources/templates/list", "resourceTemplates"); err != nil {
			return err
		}
	}
	if l.Flags.JSON {
		return l.PrintJSON(l.Streams.Out, jsonv.ObjectOf("resources", jsonv.Array(resources...), "resourceTemplates", jsonv.Array(templates...)))
	}
	var rows [][]string
	row := func(v jsonv.Value, key string) {
		rows = append(rows, []string{inspect.Name(v, key), inspect.Name(v, "name"), v.Lookup("mimeType").Text(), cutFirstLine(v)})
	}
	for _, r := range resources {
		row(r, "uri")
	}
	for _, t := range templates {
		row(t, "uriTemplate")
	}
	return writeTable(l, "resource", []string{"URI", "NAME", "TYPE", "DESCRIPTION"}, rows)
}

func showPrompts(ctx context.Context, l *option.Viewer) error {
	prompts, err := listAll(ctx, l, "prompts/list", "prompts")
	if err != nil {
		return err
	}
	if l.Flags.JSON {
		return l.PrintJSON(l.Streams.Out, jsonv.ObjectOf("prompts", jsonv.Array(prompts...)))
	}
	rows := make([][]string, 0, len(prompts))
	for _, p := range prompts {
		var args []string
		for _, a := range p.Lookup("arguments").Elems() {
			n := inspect.Name(a, "name")
			if a.Lookup("required").Bool() {
				n += "*"
			}
			args = append(args, n)
		}
		rows = append(rows, []string{inspect.Name(p, "name"), strings.Join(args, ", "), cutFirstLine(p)})
	}
	return writeTable(l, "prompt", []string{"PROMPT", "ARGUMENTS", "DESCRIPTION"}, rows)
}

// cutFirstLine returns the title or the beginning of the description.
func cutFirstLine(v jsonv.Value) string {
	text := cmp.Or(v.Lookup("description").Text(), v.Lookup("title").Text())
	line, _, more := strings.Cut(strings.TrimSpace(text), "\n")
	if more {
		line = strings.TrimSpace(line) + " …"
	}
	return line
}

// formatSignature formats a schema's properties; name*: type is a required one.
func formatSignature(schema jsonv.Value) string {
	required := schema.Lookup("required").Texts()
	var out []string
	for key, prop := range schema.Lookup("properties").Members() {
		if slices.Contains(required, key) {
			key += "*"
		}
		if t := formatType(prop); t != "" {
			key += ": " + t
		}
		out = append(out, key)
	}
	return strings.Join(out, ", ")
}

func formatType(prop jsonv.Value) string {
	switch t := prop.Lookup("type"); t.Kind() {
	case jsonv.KindString:
		item := prop.Lookup("items").Lookup("type")
		if t.Text() == "array" && item.Kind() == jsonv.KindString {
			return item.Text() + "[]"
		}
		return t.Text()
	case jsonv.KindArray:
		return strings.Join(t.Texts(), "|")
	}
	if !prop.Lookup("enum").IsAbsent() {
		return "enum"
	}
	return ""
}

// longestCell limits the width of a cell of a table, except in the last column.
const longestCell = 60

// writeTable prints rows below their headings; the last column gets the rest of the
// terminal's width.
func writeTable(l *option.Viewer, what string, head []string, rows [][]string) error {
	if len(rows) == 0 {
		_, err := fmt.Fprintf(l.Streams.Out, "no %ss\n", what)
		return err
	}
	widths := lists.Map(head, func(h string) int { return len(h) })
	for _, r := range rows {
		for i := range r {
			r[i] = l.Text(r[i])
			if i < len(r)-1 {
				r[i] = display.Truncate(r[i], longestCell)
				widths[i] = max(widths[i], display.Width(r[i]))
			}
		}
	}
	left := term.CountColumns(l.Streams.Out, 0)
	for _, w := range widths[:len(widths)-1] {
		left -= w + 2
	}
	var b strings.Builder
	line := func(cells []string, st term.Style) {
		text := ""
		for i, c := range cells {
			if i == len(cells)-1 {
				if left > 20 {
					c = display.Truncate(c, left)
				}
				text += l.Palette.Paint(st, c)
				break
			}
			c = term.Pad(c, widths[i])
			if i == 0 && st == term.Plain {
				text += l.Palette.Paint(term.Strong, c) + "  "
				continue
			}
			text += l.Palette.Paint(st, c) + "  "
		}
		b.WriteString(strings.TrimRight(text, " ") + "\n")
	}
	line(head, term.Faint)
	for _, r := range rows {
		line(r, term.Plain)
	}
	_, err := io.WriteString(l.Streams.Out, b.String())
	return err
}

// showTool prints one tool.
func showTool(l *option.Viewer, tools []jsonv.Value, want string) error {
	var names []string
	for _, t := range tools {
		names = append(names, inspect.Name(t, "name"))
		if inspect.Name(t, "name") != want {
			continue
		}
		if l.Flags.JSON {
			return l.PrintJSON(l.Streams.Out, t)
		}
		var b strings.Builder
		b.WriteString(l.Palette.Paint(term.Strong, l.Text(want)))
		if title := t.Lookup("title").Text(); title != "" {
			b.WriteString("  " + l.Text(title))
		}
		b.WriteByte('\n')
		if d := t.Lookup("description").Text(); d != "" {
			b.WriteString(l.Block("  ", d))
		}
		for key, v := range t.Members() {
			if key == "name" || key == "title" || key == "description" {
				continue
			}
			b.WriteString(l.Palette.Paint(term.Faint, l.Text(key)) + "\n  " + l.JSONText("  ", v) + "\n")
		}
		_, err := io.WriteString(l.Streams.Out, b.String())
		return err
	}
	return option.Fail(option.ExitFailed, "%s", l.Text(inspect.NoSuch("tool", want, names)))
}
