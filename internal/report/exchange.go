package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"mcptest/internal/result"
	"mcptest/internal/term"
)

// exchanges writes the frames: all of them when verbose, and otherwise the
// one that got no answer.
func exchanges(p *printer, c *result.Case) {
	for i := range c.Exchanges {
		x := &c.Exchanges[i]
		if !p.Verbose && (c.Status != result.Error || x.Error == "") {
			continue
		}
		exchange(p, 3, x, c.Message)
	}
}

// exchange writes the frames of a call, and why there was no response unless
// the headline says so.
func exchange(p *printer, indent int, x *result.Exchange, headline string) {
	p.line(indent, p.faint(exchangeTitle(x)))
	writeFrame(p, indent, "→ ", x.Request)
	for _, m := range x.During {
		arrow := "← "
		if m.Dir == "to-server" {
			arrow = "→ "
		}
		writeFrame(p, indent, arrow, m.Raw)
	}
	if x.Response != "" {
		writeFrame(p, indent, "← ", x.Response)
	}
	if x.Error != "" && (p.Verbose || !strings.Contains(headline, x.Error)) {
		p.line(indent, p.paint(term.Broken, "✗ "), oneLine(x.Error, longest))
	}
}

// exchangeTitle is what was asked, how HTTP answered, and how long it took.
func exchangeTitle(x *result.Exchange) string {
	title := "exchange  "
	if x.Step != "" {
		title += term.Escape(x.Step) + "  "
	}
	title += term.Escape(x.Method)
	if x.HTTP != nil {
		title += fmt.Sprintf("  HTTP %d", x.HTTP.Status)
		if x.HTTP.Attempts > 1 {
			title += fmt.Sprintf(" after %d attempts", x.HTTP.Attempts)
		}
	}
	return title + "  (" + duration(x.DurationMS) + ")"
}

// frame writes a frame behind an arrow, indented when it is JSON and verbose.
func writeFrame(p *printer, indent int, arrow, raw string) {
	if !p.Verbose {
		p.line(indent, p.faint(arrow), oneLine(raw, excerptMax))
		return
	}
	var b bytes.Buffer
	if json.Indent(&b, []byte(raw), "", "  ") != nil || b.Len() < 100 {
		p.line(indent, p.faint(arrow), term.Escape(raw))
		return
	}
	for i, l := range strings.Split(term.EscapeLines(b.String()), "\n") {
		if i > 0 {
			arrow = "  "
		}
		p.line(indent, p.faint(arrow), l)
	}
}
