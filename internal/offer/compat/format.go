package compat

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/term"
	"mcptest/internal/report/gate"
)

// marks represent an effect by one character.
var marks = map[string]struct {
	mark  string
	style term.Style
}{
	"ok":                {"✓", term.Good},
	string(Degraded):    {"!", term.Warn},
	string(ToolLost):    {"✗", term.Bad},
	string(SessionLost): {"✗", term.Bad},
}

// writeText writes a report for people: one verdict per client first.
func (r Report) writeText(b *strings.Builder, p term.Palette) {
	line := []string{}
	for _, v := range r.Verdicts {
		m := marks[v.Effect]
		line = append(line, v.Profile+" "+p.Paint(m.style, m.mark))
	}
	if len(line) > 0 {
		fmt.Fprintf(b, "%s\n", strings.Join(line, "  "))
	}
	r.writeOpenings(b, p)
	if len(line) > 0 || len(r.Openings) > 0 {
		b.WriteByte('\n')
	}
	for i := 0; i < len(r.Findings); {
		end := i + 1
		for end < len(r.Findings) && r.Findings[end].Rule == r.Findings[i].Rule {
			end++
		}
		writeGroup(b, r.Findings[i:end], p)
		i = end
	}
	if len(r.Findings) > 0 {
		b.WriteByte('\n')
	}
	for _, note := range r.Notes {
		fmt.Fprintf(b, "note: %s\n", term.Escape(note))
	}
	fmt.Fprintln(b, r.summarize())
}

// maxShown bounds the number of tools that are listed under one rule; the other
// formats list all.
const maxShown = 8

// writeGroup writes the findings of one rule.
func writeGroup(b *strings.Builder, group []Finding, p term.Palette) {
	f := group[0]
	style, mark := term.Bad, "✗"
	switch f.Level {
	case LevelWarning:
		style, mark = term.Warn, "!"
	case LevelAdvice:
		style, mark = term.Faint, "·"
	}
	same := !slices.ContainsFunc(group, func(g Finding) bool { return g.Message != f.Message })
	fmt.Fprintf(b, "%s %s: ", p.Paint(style, mark), p.Paint(term.Strong, f.Profile))
	fmt.Fprintf(b, "%s  %s\n", p.Paint(style, string(f.Effect)), p.Paint(term.Faint, f.Rule))
	if same {
		fmt.Fprintf(b, "    %s\n", term.Escape(f.Message))
	}
	shown := group[:min(len(group), maxShown)]
	places := []string{}
	for _, g := range shown {
		place := term.Escape(strings.TrimSpace(g.describePlace() + " " + g.Pointer))
		if !same {
			place = strings.TrimPrefix(place+": "+term.Escape(g.Message), ": ")
		}
		if place != "" {
			places = append(places, place)
		}
	}
	for _, place := range places {
		fmt.Fprintf(b, "    %s %s\n", p.Paint(term.Faint, "in"), place)
	}
	if more := len(group) - len(shown); more > 0 {
		fmt.Fprintf(b, "    and in %s\n", display.Count(more, "more tool"))
	}
	fmt.Fprintf(b, "    fix: %s\n    %s\n", term.Escape(f.Fix), p.Paint(term.Faint, term.Escape(f.Evidence)))
}

// describePlace returns the name of the tool or other subject, and of the server if there are several.
func (f Finding) describePlace() string {
	what := cmp.Or(f.Tool, f.Subject)
	switch {
	case f.Server == "":
		return what
	case what == "":
		return f.Server
	}
	return f.Server + ": " + what
}

// summarize returns the number of findings by level.
func (r Report) summarize() string {
	parts := []string{}
	for _, l := range Levels() {
		if n := r.Count(l); n > 0 {
			parts = append(parts, count(n, l))
		}
	}
	if len(parts) == 0 {
		parts = append(parts, "no findings")
	}
	servers := ""
	if r.Servers > 1 {
		servers = " of " + display.Count(r.Servers, "server")
	}
	checked := display.Count(r.Tools, "tool") + servers + " checked"
	if r.bundles > 0 && r.bundles == r.Servers {
		checked = display.Count(r.bundles, "bundle") + " checked"
	}
	if r.Openings != nil && !r.listed {
		checked = display.Count(len(r.Openings), "opening") + servers + " replayed"
		if n := r.countUnjudged(); n > 0 {
			parts = append(parts, fmt.Sprintf("%d not judged", n))
		}
	}
	if r.hasResults && !r.listed {
		checked = display.Count(r.results, "result") + servers + " judged"
	}
	return checked + ": " + strings.Join(parts, ", ")
}

// Count returns the number of findings with a level.
func (r Report) Count(l Level) int {
	n := 0
	for _, f := range r.Findings {
		if f.Level == l {
			n++
		}
	}
	return n
}

// writeJSON writes {"clients": {name: effect}, "findings": [...], "notes": [...]}.
func (r Report) writeJSON(b *strings.Builder) {
	clients := map[string]string{}
	for _, v := range r.Verdicts {
		clients[v.Profile] = v.Effect
	}
	doc := map[string]any{
		"clients":  clients,
		"findings": append([]Finding{}, r.Findings...),
		"notes":    append([]string{}, r.Notes...),
	}
	r.addOpeningsJSON(doc)
	if r.hasResults {
		doc["results_judged"] = r.results
	}
	_ = gate.WriteJSON(b, doc) // a strings.Builder does not fail
}

// writeMarkdown writes a report as tables.
func (r Report) writeMarkdown(b *strings.Builder) {
	if len(r.Verdicts) > 0 {
		b.WriteString("| client | verdict |\n|---|---|\n")
		for _, v := range r.Verdicts {
			fmt.Fprintf(b, "| %s | %s %s |\n", v.Profile, marks[v.Effect].mark, v.Effect)
		}
		b.WriteByte('\n')
	}
	r.writeOpeningsTable(b)
	if len(r.Findings) > 0 {
		b.WriteString("| level | profile | effect | tool | place | finding | fix |\n|---|---|---|---|---|---|---|\n")
		for _, f := range r.Findings {
			fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s |\n",
				f.Level, f.Profile, f.Effect,
				quoteCode(f.describePlace()), quoteCode(f.Pointer), escapeCell(f.Message), escapeCell(f.Fix))
		}
		b.WriteByte('\n')
	}
	for _, note := range r.Notes {
		fmt.Fprintf(b, "Note: %s\n\n", escapeCell(note))
	}
	b.WriteString(r.summarize() + "\n")
}

// WriteBadge writes an SVG with the number of clients that accept the server, or of
// directories if no client was checked.
func WriteBadge(w io.Writer, r Report) error {
	label, group := "MCP clients", GroupClients
	if !slices.ContainsFunc(r.Verdicts, func(v Verdict) bool { return v.Group == GroupClients }) {
		label, group = "MCP directories", GroupStores
	}
	accepted, all := 0, 0
	for _, v := range r.Verdicts {
		if v.Group == group {
			all++
		}
		if v.Group == group && v.Effect == "ok" {
			accepted++
		}
	}
	message, color := fmt.Sprintf("accepted by %d of %d", accepted, all), "#4c1"
	if all == 0 {
		label, message = "mcptest check", display.Count(len(r.Findings), "finding")
	}
	switch {
	case r.Unexamined:
		message, color = "nothing examined", "#9f9f9f"
	case r.Failed(LevelError):
		color = "#e05d44"
	case r.Failed(LevelWarning):
		color = "#dfb317"
	}
	_, err := w.Write(display.Badge(label, message, color, "mcptest check: "+r.summarize()))
	return err
}

// WriteRules writes a list of rules as JSON.
func WriteRules(w io.Writer, rules Rules) error { return gate.WriteJSON(w, rules.All()) }

// WriteRule explains one of the rules.
func WriteRule(w io.Writer, r Rule, rules Rules) error {
	if isOpening(r.ID) {
		return rules.writeOpening(w, r)
	}
	if isApp(r.ID) {
		return writeApp(w, r)
	}
	if isResult(r.ID) {
		return writeResult(w, r)
	}
	p, _ := rules.findProfile(r.Profile)
	body, expires := "", ""
	if r.Detect != "" {
		body = "detected by: " + r.Detect
	} else {
		body = fmt.Sprintf("examines: %s; it must match the JSON Schema %s", r.On, r.Must)
	}
	if r.Expires != "" {
		expires = ", valid until " + r.Expires
	}
	_, err := fmt.Fprintf(w, "%s (%s, effect: %s)\n\n%s\n%s\nfix: %s\n\n%s on %s%s%s\n%s\n\nfails:  %s\npasses: %s\n",
		r.ID, r.Level, r.Effect, p.Title, body, r.Fix, r.Basis, r.Seen, describeVersions(r.Versions), expires, r.Source,
		display.Escape(r.Fails.Short(300)), display.Escape(r.Passes.Short(300)))
	return err
}
