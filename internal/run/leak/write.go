package leak

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/term"
	"mcptest/internal/report/gate"
	"mcptest/internal/report/html"
)

// Formats are the names of the formats of Write.
func Formats() []string { return []string{"text", "json", "md", "html"} }

// Write writes a finished report in a format.
func (r *Report) Write(w io.Writer, format string, p term.Palette) error {
	switch format {
	case "json":
		return gate.WriteJSON(w, r)
	case "html":
		return r.makeSheet().Write(w)
	case "md":
		return r.writeMarkdown(w)
	}
	return r.writeText(w, p)
}

// did says what was done: "8,000 sessions in 21.3s (375 a second), left by close".
func (r *Report) did() string {
	text := r.count(r.Units) + " in " + formatSeconds(r.Seconds)
	if r.Seconds > 0 {
		text += fmt.Sprintf(" (%.0f a second)", float64(r.Units)/r.Seconds)
	}
	if r.Leave != "" {
		text += ", left by " + r.Leave
	}
	return text
}

// listNotes are remarks on how it was measured.
func (r *Report) listNotes() (lines []string) {
	if len(r.Settings) > 0 {
		lines = append(lines, "settings that make memory settle: "+strings.Join(r.Settings, " ")+" (--keep-env leaves the environment as it is)")
	}
	if r.Interrupted {
		lines = append(lines, "interrupted: this is what was measured until then")
	}
	if r.Failure != "" {
		lines = append(lines, "ended after "+r.count(r.Units)+": "+r.Failure)
	}
	return lines
}

// listRows are the measures as cells: name, verdict, growth, from, to.
func (r *Report) listRows() (rows [][]string) {
	for i := range r.Measures {
		m := &r.Measures[i]
		n := len(m.samples)
		switch {
		case m.Unknown || n == 0:
			rows = append(rows, []string{m.Name, "not measured", "", "", ""})
		default:
			low, high := m.formatBare(m.Later.Low, m.Later.Value), m.formatBare(m.Later.High, m.Later.Value)
			slope := fmt.Sprintf("%s (%s to %s)", m.formatValue(m.Later.Value), low, high)
			if m.Later == (Slope{}) {
				slope = "too few"
			}
			first, last := m.formatValue(m.samples[0]), m.formatValue(m.samples[n-1])
			rows = append(rows, []string{m.Name, string(m.Verdict), slope, first, last})
		}
	}
	return rows
}

func (r *Report) listHead() []string {
	return []string{"", "verdict", "growth a " + r.Unit, "first", "last"}
}

func (r *Report) writeText(w io.Writer, p term.Palette) error {
	var b strings.Builder
	server := p.Paint(term.Strong, term.Escape(r.Server))
	fmt.Fprintf(&b, "%s\n%s, MCP %s\n\n", server, r.did(), term.Escape(r.Protocol))
	for i, row := range append([][]string{r.listHead()}, r.listRows()...) {
		line := fmt.Sprintf("  %-12s %-13s %-28s %10s %10s", row[0], row[1], row[2], row[3], row[4])
		line = strings.TrimRight(line, " ")
		if i == 0 {
			line = p.Paint(term.Faint, line)
		}
		b.WriteString(line + "\n")
	}
	style := map[Verdict]term.Style{Leaks: term.Bad, NoneShown: term.Good}[r.Verdict]
	if r.Verdict == Inconclusive {
		style = term.Warn
	}
	fmt.Fprintf(&b, "\n%s\n", p.Paint(style, strings.ToUpper(string(r.Verdict))))
	for _, line := range r.Summary {
		b.WriteString("  " + term.Escape(line) + "\n")
	}
	for _, line := range r.listNotes() {
		b.WriteString(p.Paint(term.Faint, term.Escape(line)) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Report) writeMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "### Memory after many %ss: %s\n\n%s, %s\n\n", r.Unit, r.Verdict, display.QuoteMarkdownCode(r.Server), r.did())
	for i, row := range append([][]string{r.listHead()}, r.listRows()...) {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			b.WriteString("|---|---|--:|--:|--:|\n")
		}
	}
	b.WriteString("\n")
	for _, line := range append(r.Summary, r.listNotes()...) {
		b.WriteString("- " + display.Markdown(line) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// makeSheet is the report as a page: what was measured over the units, with the fitted windows.
func (r *Report) makeSheet() html.Sheet {
	s := html.Sheet{
		Verdict: strings.ToUpper(string(r.Verdict[:1])) + string(r.Verdict[1:]),
		Class:   map[Verdict]string{Leaks: "bad", NoneShown: "good", Inconclusive: "warn"}[r.Verdict],
		Title:   "after " + r.count(r.Units),
		Command: r.Server,
		Tool:    "mcptest " + r.Version,
		Notes:   append(append([]string{r.did() + ", MCP " + r.Protocol}, r.Summary...), r.listNotes()...),
		Tables:  []html.Table{{Title: "Measures", Head: r.listHead(), Rows: r.listRows()}},
	}
	for i := range r.Measures {
		m := &r.Measures[i]
		if len(m.Trace) == 0 {
			continue
		}
		p := html.Plot{
			Title: m.Name,
			X:     func(v float64) string { return display.Thousands(int(v)) },
			Lines: []html.Line{{Name: "measured", Class: "trace"}},
		}
		scale := 1.0
		if m.Unit != "" {
			scale = 1 << 20
			p.Y = func(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) + " MiB" }
		}
		for j, v := range m.Trace {
			p.Lines[0].Points = append(p.Lines[0].Points, [2]float64{float64(j * m.Every), v / scale})
		}
		n := float64(r.Units)
		for _, fit := range []struct {
			name     string
			from, to float64
			Slope
		}{{"second quarter", n / 4, n / 2, m.Earlier}, {"second half", n / 2, n, m.Later}} {
			start := fit.Level - fit.Value*(fit.to-fit.from)*(parts-1)/(2*parts) // a trough counts at the start of its part
			p.Bands = append(p.Bands, html.Band{
				Name: fit.name + ": " + m.formatValue(fit.Value) + " a " + r.Unit,
				From: fit.from + n/400,
				To:   fit.to,
			})
			p.Lines = append(p.Lines, html.Line{
				Name:  "fitted to the troughs",
				Class: "mean",
				Points: [][2]float64{
					{fit.from, start / scale},
					{fit.to, (start + fit.Value*(fit.to-fit.from)) / scale},
				},
			})
		}
		s.Plots = append(s.Plots, p)
	}
	return s
}
