package verdict

import (
	"fmt"
	"strconv"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/mcpaql/rule"
)

// layout holds the formats of the parts of a report, and what puts a foreign text, or
// one that is code, into them.
type layout struct {
	text, code func(string) string
	// The formats, in the order of a report.
	warning  string // a text
	alert    string // a text
	title    string // as it is
	fact     string // its name, its value
	level    string // its name, its value
	summary  string // a text
	category string // its name, requirement, result
	row      string // its result, its name
	detail   string // a text
	repeat   string // a command line
	note     string // a text
}

var textLayout = layout{
	text:     display.OneLine,
	code:     func(s string) string { return textOrNotGiven(display.OneLine(s)) },
	warning:  "%s\n\n",
	alert:    "%s\n",
	fact:     "%s: %s\n",
	level:    "%s: %s\n",
	summary:  "Summary: %s\n",
	category: "\n%s [%s] -> %s\n",
	row:      "  - %s: %s\n",
	detail:   "    %s\n",
	repeat:   "    repeat: %s\n",
	note:     "  %s\n",
}

var markdownLayout = layout{
	text:     escapeMarkdown,
	code:     func(s string) string { return quoteCode(textOrNotGiven(s)) },
	warning:  "**%s**\n\n",
	alert:    "%s\n\n",
	title:    "# MCP-AQL Conformance Report\n\n",
	fact:     "- %s: %s\n",
	level:    "- %s: `%s`\n",
	summary:  "- Summary: %s\n",
	category: "\n## %s\n\nRequirement: %s\n\nResult: %s\n\n",
	row:      "- %s: %s\n",
	detail:   "  %s\n",
	repeat:   "  %s\n",
	note:     "\n%s\n",
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
				tiers := fmt.Sprintf("Tier 1 (structural): %s; tier 2 (semantic): %s", t.Tiers.Structural, t.Tiers.Semantic)
				put(l.detail, tiers)
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
	if len(r.NotProved) > 0 {
		out = append(out, fmt.Sprintf("Not proved: %s.", r.DescribeUnproved()))
	}
	if n := len(r.NotApplicable); n > 0 {
		rows := display.Count(n, "row")
		out = append(out, fmt.Sprintf("Not applicable or not requested, %s: %s.", rows, joinReasons(r.NotApplicable)))
	}
	if r.Ended != "" {
		out = append(out, fmt.Sprintf("The run is not complete: %s. What it did not check is SKIP.", r.Ended))
	}
	for _, leftover := range r.Leftovers {
		out = append(out, "Left behind: "+leftover)
	}
	if len(r.Unchecked) > 0 {
		out = append(out, fmt.Sprintf("Not compared with the state before the run: %s.", strings.Join(r.Unchecked, "; ")))
	}
	if r.Basis != "" {
		out = append(out, r.Basis+".")
	}
	if claim := r.Claim(); claim != "" {
		out = append(out, claim)
	}
	if n := r.countTolerated(); n > 0 {
		warnings := display.Count(n, "warning")
		out = append(out, warnings+" in MUST categories: the exit code is 0 unless --fail-on warn is given.")
	}
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
		case c == '_' && isInWord(s, i):
		case c == '&' && startsReference(s[i+1:]):
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

// isInWord reports whether the byte at i is between two of a word.
func isInWord(s string, i int) bool {
	return i > 0 && i+1 < len(s) && isWordByte(s[i-1]) && isWordByte(s[i+1])
}

// startsReference reports whether a text after an ampersand makes it a character reference.
func startsReference(rest string) bool {
	return rest != "" && (rest[0] == '#' || isWordByte(rest[0]))
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
