package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcptest/internal/aql"
	"mcptest/internal/report"
	"mcptest/internal/source"
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
		{"verify-fixtures", []string{"[folder]"}, "check bundles against their expected exit codes", "Judges every *.json bundle of a folder at its expected_level (default 1) and compares the exit code with\n" +
			"its expected_exit_code (default 0). Without a folder, the program's own fixtures. Exit code 1 on a difference.", []aqlFlag{
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
	if c.flags["fail-on"] == "warn" && r.ExitCode == aql.ExitPassed && r.Warns() {
		r.ExitCode = aql.ExitWarned
	}
	return max(c.print(r), r.ExitCode, c.judged(e))
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
		if code := c.emit(svg, r.BadgeSVG()); code != 0 || svg == "-" {
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

func (c *aqlCall) verifyFixtures() int {
	rows, ok := c.fixtures()
	if !ok {
		return aql.ExitConfig
	}
	var b strings.Builder
	code := aql.ExitPassed
	for _, v := range rows {
		verdict := "PASS"
		if !v.OK() {
			verdict, code = "FAIL", aql.ExitFailed
			c.diagnostics(v.Problems)
		}
		fmt.Fprintf(&b, "%s %s -> expected %d, got %d\n", verdict, v.Name, v.Expected, v.Got)
	}
	return max(code, c.emit("-", []byte(b.String())))
}

// fixtures judges the bundles that the command line asks for.
func (c *aqlCall) fixtures() ([]aql.Verified, bool) {
	if dir, ok := c.flags["write"]; ok && !c.writeFixtures(dir) {
		return nil, false
	}
	if len(c.args) > 0 {
		return c.folder(c.args[0])
	}
	own, err := aql.Fixtures()
	if err != nil {
		c.problem("cannot make the fixtures: %s", err)
		return nil, false
	}
	var rows []aql.Verified
	for _, f := range own {
		rules := f.Rules
		if r, ok := c.flags["rules"]; ok {
			rules = aql.RuleSet(r)
		}
		rows = append(rows, aql.Verify(&source.File{Name: f.Name, Data: f.Data}, rules))
	}
	return rows, true
}

func (c *aqlCall) folder(dir string) ([]aql.Verified, bool) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		c.problem("cannot read the folder %s: %s", dir, reason(err))
		return nil, false
	}
	rules := aql.RuleSet(c.flags["rules"])
	var rows []aql.Verified
	for _, entry := range entries {
		if entry.IsDir() || !strings.EqualFold(filepath.Ext(entry.Name()), ".json") {
			continue
		}
		f := c.read(filepath.Join(dir, entry.Name()))
		if f == nil {
			return nil, false
		}
		v := aql.Verify(f, rules)
		v.Name = entry.Name()
		rows = append(rows, v)
	}
	if len(rows) == 0 {
		c.problem("there is no *.json bundle in %s", dir)
	}
	return rows, len(rows) > 0
}

// writeFixtures writes the program's own fixtures, a folder for each rule
// set: verify-fixtures judges a folder by one of them.
func (c *aqlCall) writeFixtures(dir string) bool {
	own, err := aql.Fixtures()
	for _, rules := range aql.RuleSets() {
		err = errors.Join(err, os.MkdirAll(filepath.Join(dir, rules), 0o777))
	}
	for _, f := range own {
		if err == nil {
			err = writeWhole(filepath.Join(dir, string(f.Rules), f.Name), f.Data)
		}
	}
	if err != nil {
		c.problem("--write: cannot write to %s: %s", dir, reason(err))
	}
	return err == nil
}
