package packet

import (
	"slices"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
)

// hints are those of a tool, as the protocol has them.
var hints = []string{"title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}

// maxDescription bounds the description of a tool, which the forms read from the server.
const maxDescription = 500

// writeTools writes each tool with its hints.
func (p *page) writeTools(f Field) {
	p.printf("\n%s. A hint with ✗ is not declared, and the form needs it.", display.Count(len(p.Tools), "tool"))
	if len(f.Reasons) > 0 {
		p.printf(" Write for each hint what the tool does, and not what the hint means.")
	}
	if f.isExpired(p.Day) {
		p.printf(" **Not confirmed since %s.**", f.Expires)
	}
	p.printf("\n")
	for _, tool := range p.Tools {
		p.writeTool(f, tool)
	}
}

func (p *page) writeTool(f Field, tool jsonv.Value) {
	name := "(no name)"
	if text := tool.Lookup("name").Text(); text != "" {
		name = p.quoteCode(text)
	}
	p.printf("\n### %s\n\n", name)
	title := tool.Lookup("title").Text()
	if title != "" {
		p.printf("Title: %s  \n", p.quoteCode(title))
	}
	if text := tool.Lookup("description").Text(); text != "" {
		p.printf("Description: %s\n", p.text(display.Truncate(display.OneLine(text), maxDescription)))
	}
	if len(f.Reasons) > 0 {
		p.printf("\n| hint | value | reason |\n|---|---|---|\n")
	} else {
		p.printf("\n| hint | value |\n|---|---|\n")
	}
	for _, name := range hints {
		hint := tool.Lookup("annotations", name)
		if isMissing(hint) && !f.needs(name, tool) {
			continue
		}
		p.printf("| %s | %s |", name, p.hint(name, hint, title))
		if len(f.Reasons) > 0 {
			p.printf(" %s |", p.formatReason(f, name))
		}
		p.printf("\n")
	}
}

// needs reports whether the form asks for a hint of a tool.
func (f Field) needs(name string, tool jsonv.Value) bool {
	if !slices.Contains(f.Either, name) {
		return slices.Contains(f.Hints, name)
	}
	isDeclared := func(other string) bool { return !isMissing(tool.Lookup("annotations", other)) }
	return !slices.ContainsFunc(f.Either, isDeclared)
}

// hint is the value of a hint. A title may stand beside the hints instead.
func (p *page) hint(name string, hint jsonv.Value, title string) string {
	switch {
	case !isMissing(hint):
		return p.cell(formatInLine(hint))
	case name == "title" && title != "":
		return "the title above"
	}
	p.broken++
	return "✗ not declared"
}

// formatInLine is a hint as a short text.
func formatInLine(hint jsonv.Value) string {
	if hint.Kind() == jsonv.KindString {
		return display.Truncate(hint.Text(), 200)
	}
	return hint.Short(200)
}

// isMissing reports whether a hint is left out; null says the same.
func isMissing(hint jsonv.Value) bool { return hint.IsAbsent() || hint.Kind() == jsonv.KindNull }

// formatReason is an empty place, if the form asks for a reason.
func (p *page) formatReason(f Field, hint string) string {
	if slices.Contains(f.Reasons, hint) {
		p.reasons++
		return p.makeBlank()
	}
	return "not asked for"
}
