package verdict

import (
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/term"
	"mcptest/internal/offer/ruleset"
	"mcptest/internal/report/gate"
	"mcptest/internal/report/result"
)

// shownEvidence bounds the lines of text; the JSON has everything.
const shownEvidence = 160

// listFailed returns the results that failed, the worst level first.
func (r Report) listFailed() (out []Result) {
	levels := []ruleset.Level{ruleset.Must, ruleset.Should, ruleset.Practice}
	for _, x := range r.Results {
		if x.Verdict == Fail {
			out = append(out, x)
		}
	}
	slices.SortStableFunc(out, func(a, b Result) int { return slices.Index(levels, a.Level) - slices.Index(levels, b.Level) })
	return out
}

// Summary is the verdict in one line: "2026-07-28: 31 of 31, 2025-11-25: 44 of 44".
func (r Report) Summary() string {
	var parts []string
	for _, revision := range r.Revisions {
		t := r.Tally(revision)
		parts = append(parts, fmt.Sprintf("%s: %d of %d", revision, t.Passed, t.Passed+t.Failed))
	}
	return strings.Join(parts, ", ")
}

// Badge is the verdict as an SVG image.
func (r Report) Badge() []byte {
	t, color := r.Tally(""), "#4c1"
	switch {
	case t.Failed > 0:
		color = "#e05d44"
	case t.Musts() == 0 || r.Undecided() != "":
		color = "#9f9f9f"
	case t.ShouldNot > 0 || t.Left > 0:
		color = "#dfb317"
	}
	share := fmt.Sprintf("%d of %d", t.Passed, t.Passed+t.Failed)
	return display.Badge("MCP", strings.TrimSpace(t.Grade()+" "+share), color, "mcptest probe: "+r.Summary())
}

// formatLine describes the rules of a revision.
func (t Tally) formatLine() string {
	if t.Applicable == 0 {
		return "no rule of level must or should applies"
	}
	line := fmt.Sprintf("%d of %d MUST, %d of %d SHOULD, coverage %d %%", t.Passed, t.Passed+t.Failed, t.Should, t.Should+t.ShouldNot, t.Coverage())
	if g := t.Grade(); g != "" {
		line = g + " · " + line
	}
	return line
}

// writeText writes a line for each family, the failures, and the verdict last.
func (r Report) writeText(b *strings.Builder, rules ruleset.Rules, p term.Palette) {
	fmt.Fprintln(b, p.Paint(term.Strong, term.Escape(strings.TrimSpace(r.Server))))
	families, unverified := r.Families(rules), 0
	for _, revision := range r.Revisions {
		fmt.Fprintf(b, "\n%s  %s\n", p.Paint(term.Strong, revision), r.Tally(revision).formatLine())
		for _, n := range families {
			if n.Revision == revision {
				writeFamily(b, n, p)
				unverified += n.Unverified
			}
		}
		r.writeNotes(b, rules, revision, p)
	}
	for _, absent := range r.Absent {
		fmt.Fprintf(b, "\n%s\n", p.Paint(term.Faint, term.Escape(absent)))
	}
	for _, x := range r.listFailed() {
		rule, _ := rules.Rule(x.Rule)
		writeFailure(b, x, rule, p)
	}
	if unverified > 0 {
		fmt.Fprintf(b, "\n%s\n", p.Paint(term.Faint, fmt.Sprintf("%s not verified: -f json has the reasons", display.Count(unverified, "rule"))))
	}
	if why := r.Undecided(); why != "" {
		fmt.Fprintf(b, "\n%s %s\n", p.Paint(term.Warn, "inconclusive:"), term.Escape(why))
	}
	fmt.Fprintf(b, "\n%s\n", r.Summary())
}

// writeNotes writes what is to be known of extensions, and decides nothing.
func (r Report) writeNotes(b *strings.Builder, rules ruleset.Rules, revision string, p term.Palette) {
	for _, x := range r.Results {
		if x.Revision != revision || rules.Extension(x.Family) == "" {
			continue
		}
		for i, note := range x.Notes {
			if i == 3 {
				note = display.Count(len(x.Notes)-i, "more note")
			}
			fmt.Fprintf(b, "    %s\n", p.Paint(term.Faint, term.Escape("note: "+note)))
			if i == 3 {
				break
			}
		}
	}
}

// writeFamily writes the verdicts of one family in one revision.
func writeFamily(b *strings.Builder, n result.ProbeFamily, p term.Palette) {
	mark, style := "✓", term.Good
	switch {
	case n.Failed > 0:
		mark, style = "✗", term.Bad
	case n.Passed == 0:
		mark, style = "·", term.Faint
	}
	line := fmt.Sprintf("%d passed", n.Passed)
	if n.Failed > 0 {
		line += fmt.Sprintf(", %d failed", n.Failed)
	}
	if n.Unverified > 0 {
		line += fmt.Sprintf(", %d not verified", n.Unverified)
		if len(n.Reasons) == 1 {
			line += " (" + Excerpt(n.Reasons[0], 90) + ")"
		}
	}
	fmt.Fprintf(b, "  %s %s %s\n", p.Paint(style, mark), term.Pad(n.Family, 13), term.Escape(line))
}

func writeFailure(b *strings.Builder, x Result, rule ruleset.Rule, p term.Palette) {
	style, mark := term.Bad, "✗"
	if x.Level != ruleset.Must {
		style, mark = term.Warn, "!"
	}
	head := p.Paint(style, mark+" "+strings.ToUpper(string(x.Level)))
	fmt.Fprintf(b, "\n%s %s  %s\n", head, p.Paint(term.Strong, x.Rule), p.Paint(term.Faint, x.Revision))
	for i, f := range x.Failures {
		if i == 3 {
			fmt.Fprintf(b, "    and %s\n", display.Count(len(x.Failures)-i, "more subject"))
			break
		}
		text := strings.TrimPrefix(f.Subject+": "+f.Message, ": ")
		if f.Accepted != "" {
			text += " (accepted: " + f.Accepted + ")"
		}
		fmt.Fprintf(b, "    %s\n", term.Escape(text))
		for _, e := range f.Evidence[:min(len(f.Evidence), 1)] {
			fmt.Fprintf(b, "      %s %s\n", p.Paint(term.Faint, "→"), oneLine(e.Sent))
			fmt.Fprintf(b, "      %s %s\n", p.Paint(term.Faint, "←"), oneLine(e.Received))
		}
	}
	if x.Sentence != "" {
		fmt.Fprintf(b, "    rule: “%s”\n", term.Escape(x.Sentence))
	}
	fmt.Fprintf(b, "    fix: %s\n", term.Escape(rule.Fix))
	for _, s := range []string{x.Clause, x.Reproduce} {
		if s != "" {
			fmt.Fprintf(b, "    %s\n", p.Paint(term.Faint, term.Escape(s)))
		}
	}
}

func oneLine(s string) string {
	return term.Escape(Excerpt(strings.Join(strings.Fields(s), " "), shownEvidence))
}

// writeMarkdown writes a table of families, and the failures.
func (r Report) writeMarkdown(b *strings.Builder, rules ruleset.Rules) {
	fmt.Fprintf(b, "## %s\n\n**%s**\n\n| Revision | Verdict |\n|---|---|\n", display.Markdown(strings.TrimSpace(r.Server)), r.Summary())
	for _, revision := range r.Revisions {
		fmt.Fprintf(b, "| %s | %s |\n", revision, r.Tally(revision).formatLine())
	}
	if failed := r.listFailed(); len(failed) > 0 {
		b.WriteString("\n| Rule | Level | Revision | Failure |\n|---|---|---|---|\n")
		for _, x := range failed {
			for _, f := range x.Failures {
				text := display.Markdown(strings.TrimPrefix(f.Subject+": "+f.Message, ": "))
				fmt.Fprintf(b, "| [%s](%s) | %s | %s | %s |\n", x.Rule, x.Clause, x.Level, x.Revision, text)
			}
		}
	}
}

// writeJSON writes everything.
func (r Report) writeJSON(b *strings.Builder) {
	type scored struct {
		Revision string `json:"revision"`
		Score    int    `json:"score"`
		Grade    string `json:"grade"`
		Coverage int    `json:"coverage"`
		Tally
	}
	all := r.Tally("")
	revisions := []scored{}
	for _, revision := range r.Revisions {
		t := r.Tally(revision)
		revisions = append(revisions, scored{revision, t.Score(), t.Grade(), t.Coverage(), t})
	}
	_ = gate.WriteJSON(b, map[string]any{ // a strings.Builder does not fail
		"server":       strings.TrimSpace(r.Server),
		"seed":         r.Seed,
		"revisions":    revisions,
		"absent":       append([]string{}, r.Absent...),
		"rules":        append([]Result{}, r.Results...),
		"inconclusive": r.Undecided(),
		"score":        all.Score(),
		"grade":        all.Grade(),
		"coverage":     all.Coverage(),
		"calls":        r.Calls,
	})
}

// Excerpt shortens a text for people; a short one is one line.
func Excerpt(s string, limit int) string {
	s = strings.TrimSpace(s)
	if limit < 500 {
		s = strings.Join(strings.Fields(s), " ")
	}
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + fmt.Sprintf(" … (%d bytes)", len(s))
}
