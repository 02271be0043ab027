package cli

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/aql"
	"mcptest/internal/report"
)

// aqlOwnFormats are the layouts of the specification's report.
var aqlOwnFormats = []string{"json", "text", "markdown"}

// aqlFormats lists the formats of reports: the specification's own layouts
// and those shared with the test runner that make sense for a finished run.
func aqlFormats() []string {
	names := slices.Clone(aqlOwnFormats)
	for _, f := range report.Formats {
		switch f.Name {
		case "html", "junit", "sarif", "tap", "github":
			names = append(names, f.Name)
		}
	}
	return names
}

// aqlCommands is the table of commands: parsing, help and documentation are
// made from it.
func aqlCommands() []aqlCommand {
	format := aqlFlag{"format", "f", "one of " + strings.Join(aqlFormats(), ", "), "layout of the report (default text)", oneOf(aqlFormats()...), false}
	output := aqlFlag{"output", "o", "a file, or - for the standard output", "where the report goes (default the standard output)", anyValue, false}
	rules := aqlFlag{"rules", "", "one of " + strings.Join(aql.RuleSets(), ", "), "rule set (default reference, and strict for a bundle of a live run)", oneOf(aql.RuleSets()...), false}
	live := aqlLiveCommands(format, output)
	return append(live[:1:1], []aqlCommand{
		{"test", []string{"bundle-file"}, "judge an evidence bundle", "Judges an evidence bundle (- reads it from the standard input).\n" +
			"Exit code: 0 conformant at the level asked for, 1 a MUST category failed, 2 a SHOULD category warned,\n" +
			"3 a mistake in the command line or in the bundle.", append([]aqlFlag{
			{"level", "l", "1 or 2", "conformance level to test (default 1)", oneOf("1", "2"), false},
			output, format,
			{"tier", "", "one of " + strings.Join(aql.Tiers(), ", "), "tiers of the semantic evaluation (default both)", oneOf(aql.Tiers()...), false},
			{"category", "c", "one of " + strings.Join(categoryNames(), ", "), "report this category only", oneOf(categoryNames()...), false},
			rules, normativeFlag(),
			{"fail-on", "", "warn", "exit with 2 when anything warned, in a MUST category too", oneOf("warn"), false},
			judgeBundleFlag(),
		}, judgeFlags()...), (*aqlCall).test},
		{"report", []string{"results-file"}, "lay out a JSON report anew", "Lays out a JSON report (made by test --format json) in another format.", []aqlFlag{format, output}, (*aqlCall).report},
		{"verify-fixtures", []string{"[folder]"}, "check bundles against their expected exit codes", "Judges every *.json bundle of a folder, and of those in it, at its expected_level (default 1) by its expected_rules\n" +
			"(default reference, and strict for a bundle of a live run) and compares the exit code with its expected_exit_code\n" +
			"(default 0). Without a folder, the program's own fixtures. Exit code 1 on a difference.", []aqlFlag{
			rules,
			{"write", "", "a folder", "also write the program's own fixtures there, a folder per rule set", anyValue, false},
		}, (*aqlCall).verifyFixtures},
		{"badge", []string{"results-file"}, "make a badge from a JSON report", "Prints the Markdown lines of the badge that a JSON report earns under the strict rules.", []aqlFlag{
			{"svg", "", "a file, or - for the standard output", "write the badge as an SVG file", anyValue, false},
		}, (*aqlCall).badge},
		{"diff", []string{"old-results", "new-results"}, "compare two JSON reports", "Tells what got worse, what was mended and what is new between two JSON reports.\nExit code 1 when something got worse.", []aqlFlag{output}, (*aqlCall).diff},
		{"explain", []string{"test…"}, "tell what a test or a rule asks for", "Tells what a test, a category or a rule asks for, where the specification says so, and how to mend it.", nil, (*aqlCall).explain},
		live[1],
		aqlDemoCommand(),
		{"version", nil, "print the version", "Prints the version of the program and of the specification it knows.", nil, (*aqlCall).version},
		{"help", []string{"[command]"}, "print help", "Prints help, on a command when one is named.", nil, (*aqlCall).printHelp},
	}...)
}

func (c *aqlCall) test() int {
	f := c.read(c.args[0])
	if f == nil {
		return aql.ExitConfig
	}
	e, ds := aql.ReadEvidence(f)
	if !c.diagnostics(ds) {
		return aql.ExitConfig
	}
	o := aql.Options{Level: 1, Tier: aql.Tier(c.flags["tier"]), Category: c.flags["category"], Rules: aql.RuleSet(c.flags["rules"])}
	if c.flags["level"] == "2" {
		o.Level = 2
	}
	if o.Rules == "" && !e.Live.IsAbsent() {
		o.Rules = aql.Strict
	}
	if o.Normative = c.flags["normative"] != ""; o.Normative && o.Rules != aql.Strict {
		c.problem("--normative belongs to the strict rules: add --rules strict")
		return aql.ExitConfig
	}
	if code := c.judgeBundle(f, e, o); code != 0 {
		return code
	}
	r := aql.Evaluate(e, o)
	c.rowless(r, o)
	if c.flags["fail-on"] == "warn" && r.ExitCode == aql.ExitPassed && r.Warns() {
		r.ExitCode = aql.ExitWarned
	}
	return max(c.print(r), r.ExitCode, c.judged(e))
}

// rowless says why a report on one category has no row.
func (c *aqlCall) rowless(r *aql.Report, o aql.Options) {
	if o.Category == "" || slices.ContainsFunc(r.Categories, func(k aql.CategoryResult) bool { return len(k.Tests) > 0 }) {
		return
	}
	why := "only a bundle of a live run, judged by the strict rules, has rows there"
	for _, k := range aql.Categories() {
		if k.Name == o.Category && k.Level > o.Level {
			why = fmt.Sprintf("it belongs to level %d: add --level %d", k.Level, k.Level)
		}
	}
	c.problem("--category: the report has no row: %s: %s", o.Category, why)
}

// print writes a report in the format and to the place asked for.
func (c *aqlCall) print(r *aql.Report) int {
	data, err := layOut(r, c.flags["format"])
	if err != nil {
		c.problem("cannot make the %s report: %s", c.flags["format"], err)
		return aql.ExitConfig
	}
	return c.emit(c.flags["output"], data)
}

func layOut(r *aql.Report, format string) ([]byte, error) {
	switch format {
	case "", "text":
		return r.Text(), nil
	case "json":
		return r.JSON(), nil
	case "markdown":
		return r.Markdown(), nil
	}
	f, err := report.Find(format)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = f.Write(&b, r.AsRun(aqlTool()), report.Options{})
	return b.Bytes(), err
}

// results reads the JSON report of a positional argument; nil after a
// mistake.
func (c *aqlCall) results(name string) *aql.Report {
	f := c.read(name)
	if f == nil {
		return nil
	}
	r, ds := aql.ReadReport(f)
	if !c.diagnostics(ds) {
		return nil
	}
	return r
}

func (c *aqlCall) report() int {
	r := c.results(c.args[0])
	if r == nil {
		return aql.ExitConfig
	}
	return c.print(r)
}

func (c *aqlCall) badge() int {
	r := c.results(c.args[0])
	if r == nil {
		return aql.ExitConfig
	}
	if r.AchievedLevel < 0 {
		c.problem("%s has no achievedLevel, which a badge is made from: make the report with %s test --format json", c.args[0], aqlName)
		return aql.ExitConfig
	}
	svg, wanted := c.flags["svg"]
	if wanted {
		if code := c.emitTo("svg", svg, r.BadgeSVG()); code != 0 || svg == "-" {
			return code
		}
	}
	return c.emit("-", []byte(r.BadgeMarkdown()))
}

func (c *aqlCall) diff() int {
	before, after := c.results(c.args[0]), c.results(c.args[1])
	if before == nil || after == nil {
		return aql.ExitConfig
	}
	d := aql.Compare(before, after)
	code := c.emit(c.flags["output"], []byte(d.Text()))
	if code == 0 && d.Regressed() {
		return aql.ExitFailed
	}
	return code
}

func (c *aqlCall) explain() int {
	topic := strings.Join(c.args, " ")
	text, ok := aql.Explain(topic)
	if !ok {
		hint := ""
		if text != "" {
			hint = fmt.Sprintf(" (did you mean %q?)", text)
		}
		c.problem("nothing is called %q%s: want a test, a category or a rule", topic, hint)
		return aql.ExitConfig
	}
	return c.emit("-", []byte(text))
}

func (c *aqlCall) version() int {
	return c.emit("-", []byte(fmt.Sprintf("%s %s (MCP-AQL specification 1.0.0-draft)\n", aqlName, version())))
}

func (c *aqlCall) printHelp() int {
	for _, cmd := range aqlCommands() {
		if len(c.args) > 0 && cmd.name == c.args[0] {
			return c.emit("-", []byte(cmd.usage()))
		}
	}
	if len(c.args) > 0 {
		c.problem("no help on %q: want one of %s", c.args[0], strings.Join(aqlCommandNames(), ", "))
		return aql.ExitConfig
	}
	var b strings.Builder
	b.WriteString("Conformance tests for MCP-AQL adapters: an independent implementation.\n\n")
	fmt.Fprintf(&b, "Usage: %s <command> [options]\n\nCommands:\n", aqlName)
	for _, cmd := range aqlCommands() {
		fmt.Fprintf(&b, "  %-16s %s\n", cmd.name, cmd.summary)
	}
	fmt.Fprintf(&b, "\nExit codes: 0 passed, 1 failed, 2 warned, 3 a mistake in the command line or a file.\n")
	fmt.Fprintf(&b, "More on a command: %s help <command>\n", aqlName)
	return c.emit("-", []byte(b.String()))
}
