package readme

import (
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/offer/surface"
)

// FormatTable returns the table of a server's tools, sorted by name, so that it does not
// depend on the order of the list. The column of hints exists only if a tool has one.
func FormatTable(s *surface.Surface) string {
	var rows [][]string
	hinted := false
	for _, it := range s.Items {
		if it.Kind != surface.Tool {
			continue
		}
		hints := hints(it.Def.Lookup("annotations"))
		hinted = hinted || hints != ""
		rows = append(rows, []string{
			display.QuoteMarkdownCode(it.Name),
			display.Markdown(findSummary(it.Def)),
			formatArguments(it.Def.Lookup("inputSchema")),
			hints,
		})
	}
	if len(rows) == 0 {
		return "The server has no tools.\n"
	}
	head := []string{"Tool", "Description", "Arguments", "Hints"}
	columns := len(head)
	if !hinted {
		columns--
	}
	var b strings.Builder
	for _, row := range append([][]string{head, strings.Fields("--- --- --- ---")}, rows...) {
		b.WriteString("|")
		for _, cell := range row[:columns] {
			b.WriteString(strings.TrimRight(" "+cell, " ") + " |")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// findSummary returns the first paragraph of a description, or else the title.
func findSummary(tool jsonv.Value) string {
	for _, key := range []string{"description", "title"} {
		text := strings.ReplaceAll(strings.TrimSpace(tool.Lookup(key).Text()), "\r\n", "\n")
		first, _, _ := strings.Cut(text, "\n\n")
		if first = strings.Join(strings.Fields(first), " "); first != "" {
			return first
		}
	}
	return tool.Lookup("annotations", "title").Text()
}

// formatArguments lists the required arguments in bold, then the others.
func formatArguments(schema jsonv.Value) string {
	required := schema.Lookup("required").Texts()
	var must, may []string
	for key := range schema.Lookup("properties").Members() {
		code := display.QuoteMarkdownCode(key)
		if slices.Contains(required, key) {
			must = append(must, "**"+code+"**")
		} else {
			may = append(may, code)
		}
	}
	return strings.Join(append(must, may...), ", ")
}

// hints returns the properties that the annotations of a tool declare.
func hints(annotations jsonv.Value) string {
	var out []string
	for _, h := range []struct{ key, yes, no string }{
		{"readOnlyHint", "read-only", ""},
		{"destructiveHint", "destructive", "not destructive"},
		{"idempotentHint", "idempotent", ""},
		{"openWorldHint", "open world", "closed world"},
	} {
		v := annotations.Lookup(h.key)
		word := h.no
		if v.Bool() {
			word = h.yes
		}
		if v.Kind() == jsonv.KindBool && word != "" {
			out = append(out, word)
		}
	}
	return strings.Join(out, ", ")
}
