package packet

import (
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/offer/apps"
)

// writeViews writes the resources that show results, with what hosts read of them.
func (p *page) writeViews(f Field) {
	if len(p.Views) == 0 {
		p.printf("No tool has a view.\n")
		return
	}
	p.printf("\n%s, as the server declares it:\n", p.label(f))
	for _, v := range p.Views {
		p.writeView(f, v)
	}
	p.printf("\n")
}

func (p *page) writeView(f Field, v apps.Shown) {
	p.printf("\n### %s\n\n", p.quoteCode(v.URI))
	opened := []string{}
	for _, tool := range v.Tools {
		opened = append(opened, p.quoteCode(tool))
	}
	if len(opened) == 0 {
		opened = append(opened, "no tool")
	}
	p.printf("- Shown by: %s\n", strings.Join(opened, ", "))
	if v.Failure != "" {
		p.broken++
		p.printf("- ✗ it could not be read: %s\n", p.text(v.Failure))
	}
	p.printf("- Type: %s\n", p.formatDeclared(v.Mime))
	for _, list := range apps.CSPLists() {
		p.printf("- %s: %s\n", list, p.formatOrigins(v.Meta.Lookup("csp", list)))
	}
	p.printf("- domain: %s\n", p.formatDeclared(v.Meta.Lookup("domain").Text()))
	permissions := "none"
	if asked := v.Meta.Lookup("permissions"); asked.Len() > 0 {
		permissions = p.quoteCode(asked.Short(300))
	}
	p.printf("- permissions: %s\n", permissions)
	for _, origin := range v.Meta.Lookup("csp", "frameDomains").Texts() {
		if slices.Contains(f.Reasons, "frameDomains") {
			p.printf("- Why the view needs frames of %s, and what they show: %s\n", p.quoteCode(origin), p.makeBlank())
		}
	}
}

func (p *page) formatDeclared(text string) string {
	if text == "" {
		return "not declared"
	}
	return p.quoteCode(text)
}

// formatOrigins are the entries of a list of the policy.
func (p *page) formatOrigins(list jsonv.Value) string {
	switch {
	case list.IsAbsent():
		return "not declared"
	case list.Kind() != jsonv.KindArray:
		return p.quoteCode(list.Short(300))
	case list.Len() == 0:
		return "none"
	}
	shown := []string{}
	for _, entry := range list.Elems() {
		if len(shown) == maxNames {
			shown = append(shown, "…")
			break
		}
		text := entry.Text()
		if entry.Kind() != jsonv.KindString {
			text = entry.Short(100)
		}
		shown = append(shown, p.quoteCode(text))
	}
	return strings.Join(shown, ", ")
}
