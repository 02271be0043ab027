package load

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"mcptest/internal/base/display"
	"mcptest/internal/base/term"
	"mcptest/internal/report/html"
	"mcptest/internal/report/render"
)

// Formats are the names of the forms of a report.
func Formats() []string { return []string{"text", "json", "md", "html"} }

// Show returns a report in one of the formats.
func (r *Report) Show(format string, p term.Palette) ([]byte, error) {
	var b bytes.Buffer
	var err error
	switch format {
	case "json":
		err = json.NewEncoder(&b).Encode(r)
	case "md":
		r.writeMarkdown(&b)
	case "html":
		err = r.makeSheet().Write(&b)
	default:
		r.writeText(&b, p)
	}
	return b.Bytes(), err
}

// formatMillis formats a time in milliseconds with three digits.
func formatMillis(v float64) string {
	switch {
	case v > 0 && v < 1:
		return fmt.Sprintf("%.3f ms", v)
	case v > 0 && v < 10:
		return fmt.Sprintf("%.2f ms", v)
	}
	return render.Duration(v)
}

func share(v float64) string { return render.Number(100*v) + " %" }

func span(v int64) string { return (time.Duration(v) * time.Millisecond).String() }

// formatInterval formats bounds.
func formatInterval(text func(float64) string, low float64, high *float64) string {
	if high == nil {
		return "at least " + text(low)
	}
	return text(low) + " to " + text(*high)
}

func line(s string) string { return render.OneLine(s, render.LongestLine) }

// computeOfferedRate is how many calls a second were due in this process.
func (r *Report) computeOfferedRate() float64 {
	return float64(r.Total.Count) / max(0.001, float64(r.MeasuredMS)/1000)
}

// listNotes are what a reader must know about the measurement.
func (r *Report) listNotes() []string {
	s, g := r.Settings, r.Generator
	asked := fmt.Sprintf("%s calls/s for %s, %s", render.Number(s.Rate), span(s.DurationMS), display.Count(s.Sessions, "session"))
	if r.Shard != nil {
		asked += fmt.Sprintf(", shard %d of %d", r.Shard.Index, r.Shard.Total)
	}
	late := fmt.Sprintf("generator: sent within %s (median), %s (p99), %s (at most)", formatMillis(g.LateP50), formatMillis(g.LateP99), formatMillis(g.Late.longest()))
	if g.CPU > 0 {
		late += fmt.Sprintf("; used %.1f %% of %s", 100*g.CPU, display.Count(g.Processors, "processor"))
	}
	out := []string{asked + ", MCP " + r.Protocol, late}
	if g.Limit {
		remedy := "use fewer calls a second, more processors or --shard"
		if g.CPU > 0 && g.CPU < 0.5 {
			remedy = "it used few of the processors, so others kept them busy"
		}
		out = append(out, "the generator was the limit: it sent calls too late, so the server did not get this load; "+remedy)
	}
	offered := r.computeOfferedRate()
	if r.AnsweredRate > 0 && r.AnsweredRate < 0.9*offered {
		out = append(out, fmt.Sprintf("the server did not keep up: %s calls/s were offered, and %s/s answered", render.Number(offered), render.Number(r.AnsweredRate)))
	}
	if r.Interrupted || r.Ended != "" {
		out = append(out, fmt.Sprintf("%s: %s of %s were measured", cmp.Or(r.Ended, "interrupted"), span(r.MeasuredMS), span(s.DurationMS)))
	}
	return out
}

// makeTables are what every format shows: the percentiles of each tool, and of all if there are
// several; errors; budgets.
func (r *Report) makeTables() (out []html.Table) {
	shown := r.Tools
	if len(shown) > 1 {
		shown = append(shown[:len(shown):len(shown)], &r.Total)
	}
	errors := html.Table{Title: "Errors", Head: []string{"tool", "error"}}
	for _, s := range shown {
		calls, failed := display.Count(s.Count, "call"), display.Count(s.Failed, "error")
		t := html.Table{
			Title: fmt.Sprintf("%s: %s, %.1f/s, %s", line(s.Tool), calls, s.Rate, failed),
			Head:  []string{"percentile", "latency", "95 % interval"},
		}
		for _, name := range percentiles() {
			t.Rows = append(t.Rows, makeQuantileRow(name, s.Percentiles[name]))
		}
		t.Rows = append(t.Rows, []string{"max", formatMillis(s.Latency.longest()), ""})
		if s.ErrorLatency != nil {
			t.Rows = append(t.Rows, makeQuantileRow("p50 of errors", s.ErrorLatency.Quantile(0.5)))
		}
		if s.Latency.Len() == 0 && s.ErrorLatency == nil { // 0 ms would look like a fast server
			t.Rows = [][]string{{"no latency was measured", "", ""}}
		}
		out = append(out, t)
		if s == &r.Total {
			continue
		}
		for _, e := range s.Errors {
			text := fmt.Sprintf("%d × %s, first: %s", e.Count, e.Kind, e.Example)
			errors.Rows = append(errors.Rows, []string{line(s.Tool), line(text)})
		}
		if s.Wrong > 0 {
			text := fmt.Sprintf("%d of %d examined responses did not pass: %s", s.Wrong, s.Examined, s.Why)
			errors.Rows = append(errors.Rows, []string{line(s.Tool), line(text)})
		}
	}
	budgets := html.Table{Title: "Budgets", Head: []string{"budget", "verdict", "measured", "95 % interval", "reason"}}
	for _, j := range r.Budgets {
		text := formatMillis
		if j.Share {
			text = share
		}
		budgets.Rows = append(budgets.Rows, []string{
			j.Budget,
			string(j.Verdict),
			text(j.Value),
			formatInterval(text, j.Low, j.High),
			j.Reason,
		})
	}
	for _, t := range []html.Table{errors, budgets} {
		if t.Rows != nil {
			out = append(out, t)
		}
	}
	return out
}

func makeQuantileRow(name string, q Quantile) []string {
	return []string{name, formatMillis(q.Value), formatInterval(formatMillis, q.Low, q.High)}
}

// chooseHeadline is the verdict in a word or two, and its style and class.
func (r *Report) chooseHeadline() (word string, st term.Style, class string) {
	switch {
	case r.Interrupted:
		return "Interrupted", term.Warn, "warn"
	case r.Verdict == Fail || r.Broken() != "":
		return "Failed", term.Bad, "bad"
	case r.Verdict == Inconclusive:
		return "Inconclusive", term.Warn, "warn"
	case r.Verdict == Pass:
		return "Passed", term.Good, "good"
	}
	return "Measured", term.Good, "good"
}

func (r *Report) writeText(b *bytes.Buffer, p term.Palette) {
	word, st, _ := r.chooseHeadline()
	fmt.Fprintf(b, "%s: load on %s\n", p.Paint(st, word), line(r.Settings.Server))
	for _, note := range r.listNotes() {
		fmt.Fprintln(b, line(note))
	}
	for _, t := range r.makeTables() {
		fmt.Fprintf(b, "\n%s\n", p.Paint(term.Strong, t.Title))
		w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
		for _, row := range t.Rows {
			fmt.Fprintln(w, "  "+strings.Join(row, "\t"))
		}
		_ = w.Flush() // a buffer
	}
}

func (r *Report) writeMarkdown(b *bytes.Buffer) {
	cell := strings.NewReplacer("|", `\|`, "<", "&lt;", "`", "'")
	word, _, _ := r.chooseHeadline()
	fmt.Fprintf(b, "### %s: load on `%s`\n\n", word, cell.Replace(line(r.Settings.Server)))
	for _, note := range r.listNotes() {
		fmt.Fprintf(b, "- %s\n", cell.Replace(line(note)))
	}
	for _, t := range r.makeTables() {
		rule := strings.Repeat("---|", len(t.Head))
		fmt.Fprintf(b, "\n**%s**\n\n| %s |\n|%s\n", cell.Replace(t.Title), strings.Join(t.Head, " | "), rule)
		for _, row := range t.Rows {
			b.WriteString("|")
			for _, c := range row {
				b.WriteString(" " + cell.Replace(c) + " |")
			}
			b.WriteString("\n")
		}
	}
}

// makeSheet is the page: latency over time, the distribution, and the tables.
func (r *Report) makeSheet() html.Sheet {
	word, _, class := r.chooseHeadline()
	middle, high, spread := html.Line{
		Name:  "median",
		Class: "trace",
	}, html.Line{
		Name:  "p99",
		Class: "high",
	}, html.Line{
		Name:  "latency of this share of the calls or less",
		Class: "trace",
	}
	for i, m := range r.Timeline {
		at := float64(int64(i)*r.StepMS) / 1000
		if m.Latency.Len() > 0 {
			middle.Points = append(middle.Points, [2]float64{at, m.Latency.Quantile(0.5).Value})
			high.Points = append(high.Points, [2]float64{at, m.Latency.Quantile(0.99).Value})
		}
	}
	for permille := 10.0; permille <= 1000; permille += 10 - 9*float64(int(permille/990)) { // the last hundredth in tenths
		spread.Points = append(spread.Points, [2]float64{permille / 10, r.Total.Latency.Quantile(permille / 1000).Value})
	}
	unit := func(name string) func(float64) string {
		return func(v float64) string { return render.Number(v) + name }
	}
	return html.Sheet{
		Verdict: word,
		Class:   class,
		Title:   "load on " + r.Settings.Server,
		Notes:   r.listNotes(),
		Tool:    "mcptest " + r.Version,
		Tables:  r.makeTables(),
		Tiles: []html.Tile{
			{Number: fmt.Sprint(r.Total.Count), Text: "calls"},
			{Number: fmt.Sprintf("%.1f/s", r.Total.Rate), Text: "sent"},
			{Number: fmt.Sprint(r.Total.Failed), Text: "errors"},
			{Number: formatMillis(r.Total.Percentiles["p99"].Value), Text: "p99"},
		},
		Plots: []html.Plot{
			{Title: "Latency over time, by when the calls were due", Lines: []html.Line{middle, high}, X: unit(" s"), Y: formatMillis},
			{Title: "Distribution", Lines: []html.Line{spread}, X: unit(" %"), Y: formatMillis},
		},
	}
}
