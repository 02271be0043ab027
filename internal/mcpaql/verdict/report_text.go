package verdict

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/lists"
	"mcptest/internal/mcpaql/rule"
	"mcptest/internal/report/result"
)

// layout holds the formats of the parts of a report, and what puts a foreign text, or
// one that is code, into them.
type layout struct {
	text, code                                                                       func(string) string
	warning, alert, title, fact, level, summary, category, row, detail, repeat, note string
}

var textLayout = layout{
	text: display.OneLine, code: func(s string) string { return textOrNotGiven(display.OneLine(s)) },
	warning: "%s\n\n", alert: "%s\n", fact: "%s: %s\n", level: "%s: %s\n", summary: "Summary: %s\n", category: "\n%s [%s] -> %s\n",
	row: "  - %s: %s\n", detail: "    %s\n", repeat: "    repeat: %s\n", note: "  %s\n",
}

var markdownLayout = layout{
	text: escapeMarkdown, code: func(s string) string { return quoteCode(textOrNotGiven(s)) },
	warning: "**%s**\n\n", alert: "%s\n\n", title: "# MCP-AQL Conformance Report\n\n", fact: "- %s: %s\n", level: "- %s: `%s`\n", summary: "- Summary: %s\n",
	category: "\n## %s\n\nRequirement: %s\n\nResult: %s\n\n", row: "- %s: %s\n", detail: "  %s\n", repeat: "  %s\n", note: "\n%s\n",
}

// FormatText returns the report in the plain layout: a heading, and per category its rows
// with a line of detail each. Control characters of names and details are removed,
// and line breaks become blanks.
func (r *Report) FormatText() []byte { return r.lay(textLayout) }

// FormatMarkdown returns the report as a Markdown document. Text from an adapter or a
// bundle is escaped.
func (r *Report) FormatMarkdown() []byte { return r.lay(markdownLayout) }

func (r *Report) lay(l layout) []byte {
	var b strings.Builder
	put := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	if line := r.describeHarm(); line != "" {
		put(l.warning, l.text(line))
	}
	for _, s := range r.Alerts {
		put(l.alert, l.text(s))
	}
	b.WriteString(l.title)
	put(l.fact, "Implementation", l.code(r.Implementation))
	put(l.fact, "Spec version", l.code(r.SpecVersion))
	for _, level := range r.describeLevels() {
		put(l.level, level[0], level[1])
	}
	put(l.summary, r.Summary)
	for _, c := range r.Categories {
		put(l.category, l.text(c.Name), c.findRequirement(), c.Result)
		for _, t := range c.Tests {
			put(l.row, t.Result, l.text(t.Name))
			if t.Detail != "" {
				put(l.detail, l.text(t.Detail))
			}
			for _, line := range t.repeats() {
				put(l.repeat, l.code(line))
			}
			if t.Tiers != nil {
				put(l.detail, fmt.Sprintf("Tier 1 (structural): %s; tier 2 (semantic): %s", t.Tiers.Structural, t.Tiers.Semantic))
			}
		}
		if c.Note != "" {
			put(l.note, l.text(c.Note))
		}
	}
	for i, line := range r.describeClosing() {
		if i == 0 {
			b.WriteByte('\n')
		}
		b.WriteString(l.text(line) + "\n")
	}
	return []byte(b.String())
}

// describeHarm returns the first line of a report whose live run changed existing data, ""
// if it did not.
func (r *Report) describeHarm() string {
	if len(r.Changed) == 0 {
		return ""
	}
	return "DATA CHANGED that this run did not create: " + strings.Join(r.Changed, "; ")
}

// describeLevels returns the lines about levels. The strict report begins with the achieved
// level, which is 0 as long as evidence is missing; a requested level without a
// failure is not yet an achieved one. The reference layout is the specification's.
func (r *Report) describeLevels() [][2]string {
	requested := [2]string{"Requested level", strconv.Itoa(r.RequestedLevel)}
	if r.Rules != rule.Strict || r.AchievedLevel < 0 {
		return [][2]string{requested, {"Conformance level", strconv.Itoa(r.ConformanceLevel)}}
	}
	achieved := strconv.Itoa(r.AchievedLevel)
	switch {
	case r.AchievedLevel >= r.RequestedLevel:
	case len(r.Changed) > 0:
		achieved += " (data changed that the run did not create)"
	case ExitCode(r.Categories) == ExitFailed:
		achieved += " (a MUST category failed)"
	case !r.Complete:
		achieved += " (evidence is missing)"
	case r.AchievedLevel > 0:
		achieved += fmt.Sprintf(" (not every row of level %d passed)", r.RequestedLevel)
	}
	return [][2]string{{"Achieved level", achieved}, requested}
}

// describeClosing returns the lines below the rows. A report of another tool has none.
func (r *Report) describeClosing() []string {
	if r.Rules == "" || r.AchievedLevel < 0 {
		return nil
	}
	line := fmt.Sprintf("Rules: %s. Achieved level (strict rules): %d", r.Rules, r.AchievedLevel)
	if !r.Complete {
		line += ", evidence incomplete"
	}
	out := []string{line + "."}
	say := func(applies bool, format string, args ...any) {
		if applies {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	say(len(r.NotProved) > 0, "Not proved: %s.", r.DescribeUnproved())
	say(len(r.NotApplicable) > 0, "Not applicable or not requested, %s: %s.", display.Count(len(r.NotApplicable), "row"), joinReasons(r.NotApplicable))
	say(r.Ended != "", "The run is not complete: %s. What it did not check is SKIP.", r.Ended)
	out = append(out, lists.Map(r.Leftovers, func(l string) string { return "Left behind: " + l })...)
	say(len(r.Unchecked) > 0, "Not compared with the state before the run: %s.", strings.Join(r.Unchecked, "; "))
	say(r.Basis != "", "%s.", r.Basis)
	say(r.Claim() != "", "%s", r.Claim())
	say(r.countTolerated() > 0, "%s in MUST categories: the exit code is 0 unless --fail-on warn is given.", display.Count(r.countTolerated(), "warning"))
	return out
}

// countTolerated counts the warnings in MUST categories if the exit code is 0 nevertheless.
func (r *Report) countTolerated() int {
	if r.ExitCode != ExitPassed {
		return 0
	}
	var required []CategoryResult
	for _, c := range r.Categories {
		if c.Required {
			required = append(required, c)
		}
	}
	return Summarize(required).Warned
}

// String formats the counts as in the text layout.
func (s Summary) String() string {
	return fmt.Sprintf("%d passed, %d warned, %d failed, %d skipped", s.Passed, s.Warned, s.Failed, s.Skipped)
}

func (c CategoryResult) findRequirement() rule.Requirement {
	if c.Required {
		return rule.Must
	}
	return rule.Should
}

// escapeMarkdown escapes a foreign text for Markdown. An underscore inside a word
// needs no escape and gets none, so that names stay searchable.
func escapeMarkdown(s string) string {
	s = display.OneLine(s)
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		switch {
		case c == '_' && i > 0 && i+1 < len(s) && isWordByte(s[i-1]) && isWordByte(s[i+1]):
		case c == '&' && i+1 < len(s) && (s[i+1] == '#' || isWordByte(s[i+1])):
			b.WriteString("&amp;")
			continue
		case c == '<':
			b.WriteString("&lt;")
			continue
		case strings.IndexByte("\\`*_[~", c) >= 0:
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.String()
}

func isWordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// quoteCode puts a foreign text between backticks, more of them than it holds
// (CommonMark 6.1).
func quoteCode(s string) string {
	s = display.OneLine(s)
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") || strings.TrimSpace(s) == "" {
		s = " " + s + " "
	}
	return fence + s + fence
}

// describeBadge returns the text of a badge and its colors. A badge needs complete
// evidence and a level under the strict rules.
func (r *Report) describeBadge() (message, name, color string) {
	switch {
	case !r.Complete && r.AchievedLevel <= 0 && r.Summary.Failed == 0 && r.ConformanceLevel > 0:
		return "evidence incomplete", "lightgrey", "#9f9f9f"
	case r.AchievedLevel >= rule.LevelTwo:
		return "Level 2", "blue", "#007ec6"
	case r.AchievedLevel == rule.LevelOne:
		return "Level 1", "green", "#4c1"
	}
	return "not conformant", "lightgrey", "#9f9f9f"
}

// FormatBadgeMarkdown returns the Markdown line of the badge and, when a level was
// achieved, the claim that goes with it (S 2.3, 6.2). The image is drawn by
// shields.io; DrawBadge makes one that needs no service.
func (r *Report) FormatBadgeMarkdown() string {
	message, color, _ := r.describeBadge()
	out := fmt.Sprintf("![MCP-AQL %s](https://img.shields.io/badge/MCP--AQL-%s-%s)\n",
		message, strings.ReplaceAll(message, " ", "%20"), color)
	if claim := r.Claim(); claim != "" {
		out += "\n" + escapeMarkdown(claim) + "\n"
		if r.Basis != "" {
			out += "\n" + escapeMarkdown(r.Basis) + ".\n"
		}
	}
	return out
}

// DrawBadge returns the badge as an SVG document that refers to nothing
// outside itself.
func (r *Report) DrawBadge() []byte {
	const label = "MCP-AQL"
	message, _, color := r.describeBadge()
	claim := cmp.Or(r.Claim(), label+": "+message)
	return display.Badge(label, message, color, strings.TrimSuffix(claim+". "+r.Basis, ". "))
}

// runNotes returns the notes of the record: the levels, the rows, and the closing lines.
func (r *Report) runNotes() []string {
	levels := lists.Map(r.describeLevels(), func(l [2]string) string {
		return strings.ToLower(l[0]) + " " + l[1]
	})
	notes := []string{"Conformance: " + strings.Join(levels, ", "), "Rows: " + r.Summary.String()}
	return append(notes, r.describeClosing()...)
}

// ConvertToRun returns the report as the record of a test run, so that every format that can
// print a run can print a report. A row is a case with the result that the text layout
// gives it, so that all formats count alike; a WARN is a passed case with a warning. A
// FAIL in a SHOULD category is a failed case that says that it does not block
// conformance; the exit code distinguishes the two. A row's findings are its assertions.
func (r *Report) ConvertToRun(tool result.Tool) *result.Run {
	run := &result.Run{
		Schema:     result.Schema,
		Tool:       tool,
		Suites:     []result.Suite{{Name: r.makeTitle(), File: r.fileName()}},
		ExitCode:   r.ExitCode,
		Parallel:   1,
		DurationMS: float64(r.DurationMS),
		Notes:      r.runNotes(),
	}
	var cases []*result.Case
	var last *result.Case // the last case of round trips, or else of all
	if line := r.describeHarm(); line != "" {
		run.Notes = append([]string{line}, run.Notes...)
		run.Suites[0].Name += ": DATA CHANGED that the run did not create" // the title of a page
		cases = append(cases, r.convertToCase(CategoryResult{Name: "DATA CHANGED", Required: true}, TestResult{Name: "Data that the run did not create is unchanged", Result: Failed, Detail: line}))
		last = cases[0]
		run.Summary.Add(last)
	}
	for _, c := range r.Categories {
		for _, t := range c.Tests {
			k := r.convertToCase(c, t)
			cases = append(cases, k)
			run.Summary.Add(k)
			if last == nil || last.Block != rule.RoundTrip || c.Name == rule.RoundTrip {
				last = k
			}
		}
		if c.Note != "" {
			run.Notes = append(run.Notes, c.Name+": "+c.Note)
		}
	}
	if n := len(r.Leftovers); n > 0 && last != nil {
		// Formats that print no notes print a case's warnings.
		last.Warnings = append(last.Warnings, lists.Map(r.Leftovers, func(l string) string { return "left behind: " + l })...)
		run.Summary.Warnings += n
	}
	run.Cases = result.Stored(cases...)
	return run
}

// maxShownExchanges is the maximum number of calls that the record holds per row.
const maxShownExchanges = 20

func (r *Report) makeTitle() string {
	if r.Implementation == "" {
		return "MCP-AQL conformance"
	}
	return strings.TrimSpace(r.Implementation + " " + r.Version)
}

// fileName returns the name of the judged file, "" if it was a stream.
func (r *Report) fileName() string {
	if strings.HasPrefix(r.Bundle, "(") {
		return ""
	}
	return r.Bundle
}

func (r *Report) convertToCase(c CategoryResult, t TestResult) *result.Case {
	k := &result.Case{
		Name: t.Name, Suite: r.makeTitle() + ": " + c.Name, Block: c.Name, File: r.fileName(),
		Tags: []string{strings.ToLower(string(c.findRequirement()))}, Assertions: []result.Assertion{},
		Status: result.Pass,
	}
	switch {
	case t.Result == Failed && c.Required:
		k.Status, k.Message = result.Fail, t.Detail
	case t.Result == Skipped:
		k.Status, k.Message = result.Skip, t.Detail
	case t.Result == Failed:
		k.Status, k.Message = result.Fail, "SHOULD, does not block conformance: "+t.Detail
	case t.Result == Warned:
		k.Warnings = append(k.Warnings, t.Detail)
	}
	for _, f := range t.Findings {
		if k.File == "" {
			f.Line, f.Column = 0, 0
		}
		if k.Line == 0 {
			k.Line, k.Column = f.Line, f.Column
		}
		if x := f.Exchange; x != nil && len(k.Exchanges) < maxShownExchanges {
			k.Exchanges = append(k.Exchanges, result.Exchange{
				Step:       f.Rule,
				Method:     "tools/call " + x.Tool,
				Request:    x.Arguments.String(),
				Response:   display.Truncate(x.Answer.String(), maxShownAnswer),
				DurationMS: x.MS,
			})
			k.Repro = cmp.Or(k.Repro, x.Repeat)
		}
		if k.Status != result.Fail || f.Weight != rule.Fail {
			continue
		}
		a := result.Assertion{Target: f.At, Matcher: f.Rule, Message: f.Says, Line: f.Line, Column: f.Column}
		if rule, ok := rule.ByID()[f.Rule]; ok {
			a.Notes = []string{rule.Says, string(rule.Requirement) + ", " + rule.Section, rule.Fix}
		}
		k.Assertions = append(k.Assertions, a)
	}
	if t.Result == Pass {
		k.Assertions = append(k.Assertions, result.Assertion{Name: t.Name, Pass: true, Message: t.Detail})
	}
	return k
}

const maxShownAnswer = 4000
