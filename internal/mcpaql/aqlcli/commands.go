package aqlcli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mcptest/internal/base/lists"
	"mcptest/internal/base/source"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/mcpaql/aql"
	"mcptest/internal/mcpaql/demo"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/rule"
	"mcptest/internal/mcpaql/verdict"
	"mcptest/internal/report"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
	"mcptest/internal/server/mcpserver"
)

// newRoot builds the command tree of a call.
func newRoot(c *call) *cobra.Command {
	root := &cobra.Command{
		Use:   aqlName,
		Short: "Test MCP-AQL adapters for conformance",
		Long: `Judges evidence about an MCP-AQL adapter: a bundle of what its operations declare and do.

Exit codes: 0 passed, 1 failed, 2 warned, 3 an invalid command line or file.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return fmt.Errorf("no command: expected one of %s", strings.Join(lists.Map(cmd.Commands(), (*cobra.Command).Name), ", "))
		},
	}
	root.Version = formatVersion()
	root.SetFlagErrorFunc(flagError)
	root.CompletionOptions.DisableDefaultCmd = true
	help := newHelpCmd()
	root.SetHelpCommand(help)
	root.AddCommand(c.newCommands()...)
	root.AddCommand(help)
	return root
}

// newCommands returns all commands but help.
func (c *call) newCommands() []*cobra.Command {
	return []*cobra.Command{
		c.newCommand("live", "test a running adapter", liveHelp, (*call).runLive, newLiveOptions()...),
		c.newCommand("test <bundle-file>", "judge an evidence bundle", testHelp, (*call).test, slices.Concat([]option{
			levelOption, outputOption, newFormatOption(),
			newChoice("tier", "", "tier", "tiers of the semantic evaluation (default both)", aql.Tiers()),
			newChoice("category", "c", "name", "report this category only", listCategories()),
			newRulesOption(), normativeOption, failOnOption(), judgeBundleOption,
		}, judgeOptions())...),
		c.newCommand("report <results-file>", "convert a JSON report to another format",
			"Converts a JSON report (made by test or live with --format json) to another format.", (*call).report, newFormatOption(), outputOption),
		c.newCommand("verify-fixtures [folder]", "check bundles against their expected exit codes", fixturesHelp, (*call).verifyFixtures, newRulesOption(),
			option{long: "write", value: "folder", doc: "also write the program's own fixtures there, a folder per rule set"}),
		c.newCommand("badge <results-file>", "make a badge from a JSON report",
			"Prints the Markdown lines of the badge that a JSON report earns under the strict rules.", (*call).runBadge,
			option{long: "svg", value: "file", doc: "write the badge as an SVG file (- is the standard output)"}),
		c.newCommand("diff <old-results> <new-results>", "compare two JSON reports",
			"Lists what got worse, what was fixed and what is new between two JSON reports.\nExit code 1 when something got worse.", (*call).runDiff, outputOption),
		c.newCommand("explain <test…>", "explain a test, a category or a rule",
			"Explains what a test, a category or a rule requires, where the specification says so, and how to fix a failure.", (*call).explain),
		c.newCommand("rules", "print the list of rules",
			"Prints all rules as a Markdown document: for each row of the report its rules, with section, weights and hint.",
			func(c *call) int { return c.emit("-", []byte(rule.WriteMarkdown())) }),
		c.newCommand("call <tool> [arguments-json]", "call one tool of an adapter",
			"Calls one tool with arguments, a JSON object, and prints the response, to reproduce a finding of live.\nNo mode restricts it.", (*call).callTool, newTargetOptions()...),
		c.newCommand("demo-adapter", "serve an MCP-AQL adapter to experiment with", demoHelp, (*call).runDemoAdapter, newDemoOptions()...),
		c.newCommand("version", "print the version", "Prints the version of the program and of the specification it knows.",
			func(c *call) int { return c.emit("-", []byte(formatVersion()+"\n")) }),
	}
}

// The longer texts of help.
const (
	liveHelp = `Tests a running adapter and judges its answers by the strict rules. Mode safe calls only
operations that read; write also creates, updates and deletes its own things, marked zz_conf_, and removes them.
Exit code: 0 conformant at the requested level, 1 a MUST category failed or data changed that the run did not create,
2 not proved, or a SHOULD category warned,
3 an invalid command line, an error in this program, or no adapter, 5 --record is refused because CI is set,
130 interrupted.`

	testHelp = `Judges an evidence bundle (- reads it from the standard input).
Exit code: 0 conformant at the requested level, 1 a MUST category failed, 2 a SHOULD category warned, or by the
strict rules something was not proved,
3 an invalid command line or bundle.`

	fixturesHelp = `Judges every *.json bundle of a folder, and of those in it, at its expected_level (default 1) by its expected_rules
(default reference, and strict for a bundle of a live run) and compares the exit code with its expected_exit_code
(default 0). Without a folder, the program's own fixtures. Exit code 1 on a difference.`

	demoHelp = `Serves a small library as an MCP-AQL adapter on standard input and output, or over HTTP. It conforms at level 2;
defects can be switched on one by one. It is a server: give it to live --stdio, or its URL to live --url.`
)

// newCommand returns a command with its options and its action; run returns the exit
// code.
func (c *call) newCommand(use, short, long string, run func(*call) int, options ...option) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Long: long}
	c.add(cmd, options)
	cmd.Args = checkPositional
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		cmd.Flags().Visit(func(f *pflag.Flag) {
			if f.Value.Type() == "bool" && f.Value.String() == "true" {
				c.flags[f.Name] = "yes"
			}
		})
		c.args, c.code = args, verdict.ExitConfig
		if len(c.problems) == 0 {
			c.code = run(c)
		}
		return nil
	}
	return cmd
}

func newHelpCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "help [command]",
		Short: "print help",
		Long:  "Prints help, on a command when one is named.",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(help *cobra.Command, args []string) error {
			cmd, _, err := help.Root().Find(args)
			if err != nil {
				return err
			}
			cmd.InitDefaultHelpFlag()
			return cmd.Help()
		},
	}
}

func (c *call) test() int {
	f := c.read(c.args[0])
	if f == nil {
		return verdict.ExitConfig
	}
	e, ds := evidence.Read(f)
	if !c.addDiagnostics(ds) {
		return verdict.ExitConfig
	}
	o := readJudgement(c.flags)
	if o.Rules == "" && !e.Live.IsAbsent() {
		o.Rules = rule.Strict
	}
	if o.Normative && o.Rules != rule.Strict {
		return c.addProblem("--normative belongs to the strict rules: add --rules strict")
	}
	if code := c.judgeBundle(f, e, o); code != 0 {
		return code
	}
	r := aql.Evaluate(e, o)
	c.explainNoRows(r, o)
	c.printUnproved(r)
	return max(c.print(r), r.ExitCode, c.reportJudged(e))
}

// readJudgement reads the options of the judgement.
func readJudgement(flags map[string]string) aql.Options {
	level, _ := strconv.Atoi(flags["level"])
	return aql.Options{
		Level:     max(level, 1),
		Tier:      aql.Tier(flags["tier"]),
		Category:  flags["category"],
		Rules:     rule.Set(flags["rules"]),
		Normative: flags["normative"] != "",
		FailOn:    verdict.FailOn(flags["fail-on"]),
	}
}

// printUnproved lists the requirements of the requested level that have no evidence.
func (c *call) printUnproved(r *verdict.Report) {
	for _, s := range r.Alerts {
		c.addProblem("%s", s)
	}
	if r.ExitCode == verdict.ExitWarned && len(r.NotProved) > 0 {
		c.addProblem("not proved: %s", r.DescribeUnproved())
	}
}

// explainNoRows explains why a report on one category has no row.
func (c *call) explainNoRows(r *verdict.Report, o aql.Options) {
	hasRows := slices.ContainsFunc(r.Categories, func(k verdict.CategoryResult) bool { return len(k.Tests) > 0 })
	if o.Category == "" || hasRows {
		return
	}
	why := "only a bundle of a live run, judged by the strict rules, has rows there"
	for _, k := range rule.Categories() {
		if k.Name == o.Category && k.Level > o.Level {
			why = fmt.Sprintf("it belongs to level %d: add --level %d", k.Level, k.Level)
		}
	}
	c.addProblem("--category: the report has no row: %s: %s", o.Category, why)
}

// print writes a report in the requested format to the requested place.
func (c *call) print(r *verdict.Report) int {
	data, err := layOut(r, c.flags["format"])
	if err != nil {
		return c.addProblem("cannot make the %s report: %s", c.flags["format"], err)
	}
	return c.emit(c.flags["output"], data)
}

func layOut(r *verdict.Report, format string) ([]byte, error) {
	switch format {
	case "", "text":
		return r.FormatText(), nil
	case "json":
		return r.FormatJSON(), nil
	case "markdown":
		return r.FormatMarkdown(), nil
	}
	f, err := report.Find(format)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	run := r.ConvertToRun(result.Tool{Name: aqlName, Version: cmdutil.Version()})
	defer run.Close()
	err = f.Write(&b, run, render.Options{})
	return b.Bytes(), err
}

// readResults reads the JSON report that a positional argument names; it returns nil
// after a mistake.
func (c *call) readResults(name string) *verdict.Report {
	f := c.read(name)
	if f == nil {
		return nil
	}
	if r, ds := verdict.ReadReport(f); c.addDiagnostics(ds) {
		return r
	}
	return nil
}

func (c *call) report() int {
	if r := c.readResults(c.args[0]); r != nil {
		return c.print(r)
	}
	return verdict.ExitConfig
}

func (c *call) runBadge() int {
	r := c.readResults(c.args[0])
	if r == nil {
		return verdict.ExitConfig
	}
	if r.AchievedLevel < 0 {
		return c.addProblem("%s has no achievedLevel, which a badge is made from: make the report with %s test --format json", c.args[0], aqlName)
	}
	if svg, wanted := c.flags["svg"]; wanted {
		if code := c.emitTo("svg", svg, r.DrawBadge()); code != 0 || svg == "-" {
			return code
		}
	}
	return c.emit("-", []byte(r.FormatBadgeMarkdown()))
}

func (c *call) runDiff() int {
	before, after := c.readResults(c.args[0]), c.readResults(c.args[1])
	if before == nil || after == nil {
		return verdict.ExitConfig
	}
	d := verdict.Compare(before, after)
	code := c.emit(c.flags["output"], []byte(d.FormatText()))
	if code == 0 && d.HasRegressed() {
		return verdict.ExitFailed
	}
	return code
}

func (c *call) explain() int {
	topic := strings.Join(c.args, " ")
	text, ok := rule.Explain(topic)
	if !ok {
		near := text
		if near == "" {
			tests := lists.Map(rule.Tests(), func(t rule.Test) string { return t.Name })
			near = findSimilar(topic, append(listCategories(), tests...))
		}
		hint := source.Parenthesis(source.Suggest(near))
		return c.addProblem("unknown name %q%s: expected a test, a category or a rule", topic, hint)
	}
	return c.emit("-", []byte(text))
}

func formatVersion() string {
	return fmt.Sprintf("%s %s (MCP-AQL specification 1.0.0-draft)", aqlName, cmdutil.Version())
}

// maxDemoOperations limits the number of operations of the demo adapter.
const maxDemoOperations = 1000

func newDemoOptions() []option {
	defects := lists.Map(demo.Defects(), func(d demo.Defect) string { return d.Name })
	features := lists.Map(demo.Features(), func(f demo.Feature) string { return f.Name })
	return []option{
		makeRepeatable(newChoice("defect", "", "name", "switch on a defect (may be repeated)", defects)),
		makeRepeatable(newChoice("with", "", "name", "switch on an optional feature (may be repeated)", features)),
		newChoice("mode", "", "mode", "endpoint modes (default all, or what MCP_AQL_ENDPOINT_MODE says)", demo.Modes()),
		{long: "operations", value: "number", doc: fmt.Sprintf("widen the adapter to this many operations, up to %d", maxDemoOperations), check: newNumberCheck(maxDemoOperations)},
		{long: "log", value: "file", doc: "append every call of an operation to this file, a JSON object a line"},
		{long: "http", value: "address", doc: "serve over Streamable HTTP at an address such as 127.0.0.1:8080, port 0 for a free one; the URL is printed on standard error"},
		{long: "state", value: "file", doc: "keep the library in this file (default in memory)"},
	}
}

func (c *call) runDemoAdapter() int {
	o := demo.Options{
		Mode:     cmp.Or(cmdutil.LookupEnv(c.Env, "MCP_AQL_ENDPOINT_MODE"), c.flags["mode"]),
		Defects:  c.getAll("defect"),
		Features: c.getAll("with"),
		State:    c.flags["state"],
		Launch:   time.Now().Format(time.RFC3339Nano),
	}
	if o.Mode == "semantic" {
		o.Mode = demo.ModeCrude
	}
	o.Operations, _ = strconv.Atoi(c.flags["operations"])
	if name, ok := c.flags["log"]; ok {
		f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
		if err != nil {
			return c.addProblem("--log: cannot write %s: %s", name, cmdutil.Reason(err))
		}
		defer f.Close()
		o.Log = f
	}
	a, err := demo.New(o)
	if err != nil {
		return c.addProblem("demo-adapter: %s", err)
	}
	if addr, ok := c.flags["http"]; ok {
		return c.serveDemoHTTP(a, addr)
	}
	err = mcpserver.ServeStdio(context.Background(), c.Client(), c.Out, a)
	if err != nil && !errors.Is(err, io.EOF) {
		return c.addProblem("demo-adapter: %s", err)
	}
	return verdict.ExitPassed
}

// serveDemoHTTP serves one library to every session until a signal ends it.
func (c *call) serveDemoHTTP(a *demo.Adapter, addr string) int {
	ctx, stop := cmdutil.WatchSignals(context.Background(), c.Err, c.Exit)
	defer stop()
	srv := mcpserver.NewHTTPServer(a.NewSession)
	defer srv.Close()
	err := srv.ListenHTTP(ctx, addr, func(url string) { fmt.Fprintln(c.Err, url) })
	if err != nil && ctx.Err() == nil {
		return c.addProblem("demo-adapter: --http: %s", err)
	}
	return verdict.ExitPassed
}
