package packet

import (
	"fmt"
	"strings"

	"mcptest/internal/base/display"
)

// blank is a place that the owner fills in.
const blank = "_____"

// page is a packet that is being written.
type page struct {
	Facts
	form    Form
	b       strings.Builder
	blanks  int
	reasons int // of the empty places
	broken  int // limits of fields, and hints, that are not as the form asks
	expired int
}

func (p *page) printf(format string, args ...any) { fmt.Fprintf(&p.b, format, args...) }

// makeBlank returns an empty place, and counts it.
func (p *page) makeBlank() string {
	p.blanks++
	return blank
}

// hide masks a text.
func (p *page) hide(s string) string {
	if p.Mask == nil {
		return s
	}
	return p.Mask(s)
}

// text is a text of the server in a paragraph or a cell.
func (p *page) text(s string) string { return display.Markdown(p.hide(s)) }

// quoteCode is a text of the server that is copied as it is.
func (p *page) quoteCode(s string) string {
	s = display.Escape(strings.TrimSpace(p.hide(s)))
	if s == "" {
		return "(empty)"
	}
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		return fence + " " + s + " " + fence
	}
	return fence + s + fence
}

// cell is code in a table.
func (p *page) cell(s string) string { return display.QuoteMarkdownCode(p.hide(s)) }

// label is the label of a field with what is known about it.
func (p *page) label(f Field) string {
	about := []string{}
	if f.Limit > 0 {
		about = append(about, fmt.Sprintf("at most %s characters", display.Thousands(f.Limit)))
	}
	if f.Note != "" {
		about = append(about, f.Note)
	}
	if f.isExpired(p.Day) {
		about = append(about, "**not confirmed since "+f.Expires+"**")
	}
	if len(about) == 0 {
		return f.Label
	}
	return f.Label + " (" + strings.Join(about, "; ") + ")"
}

// maxNames bounds a list of names.
const maxNames = 100
