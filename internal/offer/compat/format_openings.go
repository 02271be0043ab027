package compat

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"mcptest/internal/base/term"
	"mcptest/internal/offer/opening"
)

// writeOpening explains the rule of an opening with its frames.
func (r Rules) writeOpening(w io.Writer, rule Rule) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s, effect: %s)\n\n", rule.ID, rule.Level, rule.Effect)
	b.WriteString("replayed: what the client sends to open a connection.\n")
	b.WriteString("It gets in if it accepts the handshake and the first tools/list.\n")
	for _, s := range r.Openings {
		if s.Rule() != rule.ID {
			continue
		}
		fmt.Fprintf(&b, "\n%s, script %s%s\n", s.Title, s.Name, describeVersions(s.Versions))
		for _, line := range s.Describe() {
			fmt.Fprintf(&b, "  %s\n", line)
		}
		fmt.Fprintf(&b, "  observed on %s, valid until %s: %s\n", s.Seen, s.Expires(), s.Source)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// groupByClient groups openings by server and client, in their order.
func (r Report) groupByClient() (lines [][]Opening) {
	for _, o := range r.Openings {
		i := slices.IndexFunc(lines, func(l []Opening) bool {
			return l[0].Server == o.Server && l[0].Verdict.Script.Client == o.Verdict.Script.Client
		})
		if i < 0 {
			lines = append(lines, []Opening{o})
		} else {
			lines[i] = append(lines[i], o)
		}
	}
	return lines
}

// writeOpenings writes a line for each client.
func (r Report) writeOpenings(b *strings.Builder, p term.Palette) {
	width := 0
	for _, o := range r.Openings {
		width = max(width, len(o.Verdict.Script.Title))
	}
	for _, line := range r.groupByClient() {
		name := line[0].Verdict.Script.Title
		if r.Servers > 1 {
			name = term.Escape(line[0].Server) + ": " + name
		}
		fmt.Fprintf(b, "%s%s", name, strings.Repeat(" ", max(0, width-len(line[0].Verdict.Script.Title))))
		for _, cell := range sumUpOpenings(line) {
			fmt.Fprintf(b, "  %s %s", cell.transport, p.Paint(styleOf(cell.mark), cell.mark))
			if cell.text != "" {
				fmt.Fprintf(b, " %s", term.Escape(cell.text))
			}
		}
		b.WriteByte('\n')
	}
}

// openingCell is what one line says about a transport.
type openingCell struct{ transport, mark, text string }

// sumUpOpenings sums up the scripts of a client for each transport.
func sumUpOpenings(line []Opening) (cells []openingCell) {
	for _, transport := range []string{opening.Stdio, opening.HTTP} {
		var in, lost, unjudged []opening.Verdict
		for _, o := range line {
			v := o.Verdict
			switch {
			case v.Script.Transport != transport:
			case v.Unjudged != "":
				unjudged = append(unjudged, v)
			case v.Connected:
				in = append(in, v)
			default:
				lost = append(lost, v)
			}
		}
		cell := openingCell{transport: strings.ToUpper(transport)}
		if transport == opening.Stdio {
			cell.transport = transport
		}
		switch {
		case len(in) > 0 && len(lost) > 0:
			cell.mark = "!"
			cell.text = in[0].Revision + ", but some versions do not get in: " + lost[0].What()
		case len(in) > 0:
			cell.mark, cell.text = "✓", in[0].Revision
			for _, v := range in {
				if v.Doubt != "" {
					cell.text = in[0].Revision + " (! " + v.Doubt + ")"
				}
			}
		case len(lost) > 0:
			cell.mark, cell.text = "✗", lost[0].What()
		case len(unjudged) > 0:
			cell.mark, cell.text = "?", "not judged"
		default:
			continue
		}
		cells = append(cells, cell)
	}
	return cells
}

// writeOpeningsTable writes a table of the clients.
func (r Report) writeOpeningsTable(b *strings.Builder) {
	if len(r.Openings) == 0 {
		return
	}
	b.WriteString("| opening | transport | gets in | |\n|---|---|---|---|\n")
	for _, line := range r.groupByClient() {
		name := line[0].Verdict.Script.Title
		if r.Servers > 1 {
			name = line[0].Server + ": " + name
		}
		for _, c := range sumUpOpenings(line) {
			fmt.Fprintf(b, "| %s | %s | %s | %s |\n", escapeCell(name), c.transport, c.mark, escapeCell(c.text))
		}
	}
	b.WriteByte('\n')
}

// addOpeningsJSON adds the openings to a document, if any were replayed.
func (r Report) addOpeningsJSON(doc map[string]any) {
	if r.Openings == nil {
		return
	}
	judged, unjudged := []map[string]any{}, []map[string]any{}
	for _, o := range r.Openings {
		v := o.Verdict
		entry := map[string]any{"client": v.Script.Client, "transport": v.Script.Transport, "script": v.Script.Name}
		if r.Servers > 1 {
			entry["server"] = o.Server
		}
		if v.Unjudged != "" {
			entry["why"] = v.Unjudged
			unjudged = append(unjudged, entry)
			continue
		}
		entry["connected"], entry["source"], entry["seen"] = v.Connected, v.Script.Source, v.Script.Seen
		entry["revision"], entry["reason"] = v.Revision, v.Reason
		if v.Doubt != "" {
			entry["doubt"] = v.Doubt
		}
		if !v.Connected {
			entry["method"], entry["answer"], entry["then"], entry["fix"] = v.Method, v.Says, v.Does, v.Fix
			entry["correct"] = v.Correct
		}
		judged = append(judged, entry)
	}
	doc["openings"] = judged
	if len(unjudged) > 0 {
		doc["openings_not_judged"] = unjudged
	}
}

// countUnjudged returns the number of openings that were not judged.
func (r Report) countUnjudged() (n int) {
	for _, o := range r.Openings {
		if o.Verdict.Unjudged != "" {
			n++
		}
	}
	return n
}

// styleOf returns the color of the mark of a client.
func styleOf(mark string) term.Style {
	switch mark {
	case "✓":
		return term.Good
	case "!":
		return term.Warn
	case "✗":
		return term.Bad
	}
	return term.Faint
}
