package packet

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"mcptest/internal/base/display"
	"mcptest/internal/offer/compat"
)

// Write writes the packet of a form.
func Write(w io.Writer, form Form, facts Facts) error {
	body := &page{Facts: facts, form: form}
	body.writeRules()
	for _, section := range form.listSections() {
		body.writeSection(section)
	}
	body.writeSources()
	head := &page{Facts: facts, form: form}
	head.writeHead(body)
	text := head.b.String() + body.b.String()
	for strings.Contains(text, "\n\n\n") {
		text = strings.ReplaceAll(text, "\n\n\n", "\n\n")
	}
	_, err := io.WriteString(w, strings.TrimRight(text, "\n")+"\n")
	return err
}

// writeHead writes the title and what is left to do.
func (p *page) writeHead(body *page) {
	name := p.Info.Lookup("title").Text()
	if name == "" {
		name = p.Info.Lookup("name").Text()
	}
	if name == "" {
		name = "a server"
	}
	p.printf("# %s: %s\n\n", p.form.Title, p.text(name))
	p.printf("What the form at <%s> asks for, as far as it is known of %s. Made by %s on %s. "+
		"`%s` is for you: nothing was invented for it.\n\n",
		p.form.Portal, p.quoteCode(p.Target), p.text(p.Program), p.Day.Format("2006-01-02"), blank)
	left := []string{display.Count(body.blanks, "empty place")}
	if body.reasons > 0 {
		left[0] += fmt.Sprintf(" (%s for a hint)", display.Count(body.reasons, "reason"))
	}
	if body.broken > 0 {
		left = append(left, display.Count(body.broken, "value")+" not as the form asks (✗)")
	}
	if n := body.countBrokenRules(compat.LevelError); n > 0 {
		left = append(left, display.Count(n, "rule")+" of the directory broken")
	}
	if n := body.countBrokenRules(compat.LevelWarning); n > 0 {
		left = append(left, display.Count(n, "warning")+" about the directory")
	}
	if body.expired > 0 {
		left = append(left, display.Count(body.expired, "field")+" not confirmed for a year: compare with the form")
	}
	p.printf("Left to do: %s.\n", strings.Join(left, ", "))
	if p.Stored {
		p.printf("\nThe lists are those of a file: what only a connection shows is empty.\n")
	}
	for _, note := range p.Notes {
		p.printf("\nNot known: %s\n", p.text(note))
	}
}

// writeSection writes the fields of a section; one that has only fields for views needs views.
func (p *page) writeSection(name string) {
	p.printf("\n## %s\n\n", name)
	for _, f := range p.form.fields {
		if f.Section != name || f.When == "views" && len(p.Views) == 0 {
			continue
		}
		if f.isExpired(p.Day) {
			p.expired++
		}
		p.writeField(f)
	}
}

// writeField writes a field.
func (p *page) writeField(f Field) {
	switch f.Kind {
	case kindTools:
		p.writeTools(f)
	case kindOffers:
		p.offers(f)
	case kindViews:
		p.writeViews(f)
	case kindPrompts:
		p.writePrompts(f)
	case kindPositive, kindNegative:
		p.writeCases(f)
	default:
		p.printf("- %s: %s\n", p.label(f), p.findValue(f))
	}
}

// findValue fills in a field of one line.
func (p *page) findValue(f Field) string {
	switch f.Kind {
	case kindName:
		if title := p.Info.Lookup("title").Text(); title != "" {
			return p.formatKnown(f, title, "the title of the server")
		}
		return p.formatKnown(f, p.Info.Lookup("name").Text(), "the name of the server")
	case kindDescription:
		return p.formatKnown(f, p.Info.Lookup("description").Text(), "what the server says of itself")
	case kindWebsite:
		return p.formatKnown(f, p.Info.Lookup("websiteUrl").Text(), "what the server names")
	case kindIcon:
		return p.formatKnown(f, p.Info.Lookup("icons").At(0).Lookup("src").Text(), "what the server names")
	case kindVersion:
		return p.formatKnown(f, p.Info.Lookup("version").Text(), "the version of the server")
	case kindAddress:
		return p.formatAddress()
	case kindTransport:
		return p.formatTransport()
	case kindAccess:
		return p.access()
	case kindSignIn:
		return p.signIn()
	case kindChallenge:
		return p.formatChallenge(f)
	}
	return p.makeBlank()
}

// maxValue bounds a value that is proposed: an icon may be a whole picture.
const maxValue = 5000

// formatKnown is a value that the server gives, held against the limit; an empty place without one.
func (p *page) formatKnown(f Field, value, origin string) string {
	if strings.TrimSpace(value) == "" {
		return p.makeBlank()
	}
	if strings.HasPrefix(value, "data:") {
		return p.makeBlank() + " (the server names a picture in place of an address)"
	}
	length := utf8.RuneCountInString(value)
	said := p.quoteCode(display.Truncate(value, maxValue)) + " (" + origin
	switch {
	case f.Limit > 0 && length > f.Limit:
		p.broken++
		return said + fmt.Sprintf("; ✗ %s characters)", display.Thousands(length))
	case f.Limit > 0:
		return said + fmt.Sprintf("; ✓ %s)", display.Count(length, "character"))
	}
	return said + ")"
}

// writeSources writes where the fields come from, one line for each page and day.
func (p *page) writeSources() {
	p.printf("\n## Sources\n\n| page | last read | unconfirmed after | fields |\n|---|---|---|---|\n")
	type key struct{ source, seen, expires string }
	var order []key
	labels := map[key][]string{}
	for _, f := range p.form.fields {
		k := key{f.Source, f.Seen, f.Expires}
		if labels[k] == nil {
			order = append(order, k)
		}
		if !slices.Contains(labels[k], f.Label) {
			labels[k] = append(labels[k], f.Label)
		}
	}
	for _, k := range order {
		p.printf("| <%s> | %s | %s | %s |\n", k.source, k.seen, k.expires, strings.Join(labels[k], ", "))
	}
}
