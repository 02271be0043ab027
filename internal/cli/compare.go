package cli

import (
	"io"
	"slices"

	"github.com/spf13/cobra"

	"mcptest/internal/base/term"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
	"mcptest/internal/report"
	"mcptest/internal/report/compare"
	"mcptest/internal/report/html"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// compareFlags are the flags of `mcptest compare`.
type compareFlags struct {
	compare.Options
	format, output, color string
	failOn                []string
	verbose               bool
}

func newCompareCmd(s cmdutil.Streams) *cobra.Command {
	var f compareFlags
	cmd := &cobra.Command{
		Use:   "compare OLD NEW",
		Short: "Compare two saved records",
		Long: `Compare two records saved with --reporter json=FILE or ndjson=FILE: list new
failures, fixed tests, slower tests and changed scores. With --format html,
write the page of the later run in which the tests that changed are marked.

Exit codes: 0 no regression, 1 a regression, 2 a record can't be read,
4 the comparison could not be written. A regression is a test that did not fail
before, or fails for a different reason (no response, another protocol
violation); any other reason why only the later run failed (setup, beforeAll, a
finding, a stale baseline, --fail-on-flaky); and an incomplete later record:
truncated, interrupted or without tests. --fail-on also counts slower tests,
lower scores, removed tests, and tests that ran before and are now skipped.`,
		Example: `  mcptest compare main.json branch.json
  mcptest compare old.json new.json --format html --output changes.html
  mcptest compare old.json new.json --fail-on removed,skipped
  mcptest compare old.json new.json --fail-on slower,scores --slower 2
  mcptest compare run.json run.json --variants short,long`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("slower") && f.Slower < 1 {
				return option.Invalid("--slower must be at least 1")
			}
			if n := len(f.Variants); n != 0 && n != 2 {
				return option.Invalid("--variants: expected two variants, such as short,long, got %d", n)
			}
			return f.run(s, args)
		},
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.format, "format", "f", "text", "format: text, json, or html: the page of NEW, with the changes")
	fl.StringVarP(&f.output, "output", "o", "", "write to this `file` instead of standard output")
	fl.StringVar(&f.color, "color", "auto", "colors: auto, always or never")
	fl.StringSliceVar(&f.failOn, "fail-on", nil, "also count these `changes` as regressions: slower, scores, removed, skipped, trials (shown to pass less often)")
	fl.Float64Var(&f.Slower, "slower", 0, "report tests that are slower by this `factor` (default 1.5, and at least 50 ms)")
	fl.Float64Var(&f.Score, "score", 0, "smallest `change` of a score to report (default 0.01)")
	fl.StringSliceVar(&f.Variants, "variants", nil, "compare the tests on two `variants` of a server, OLD,NEW; both may be in one record, and an empty name is the server itself")
	fl.BoolVarP(&f.verbose, "verbose", "v", false, "list every change")
	return cmd
}

func (f *compareFlags) run(s cmdutil.Streams, args []string) error {
	if !slices.Contains([]string{"text", "json", "html"}, f.format) {
		return option.Invalid("--format: expected text, json or html, got %q", f.format)
	}
	for _, what := range f.failOn {
		if !slices.Contains([]string{"slower", "scores", "removed", "skipped", "trials"}, what) {
			return option.Invalid("--fail-on: must be slower, scores, removed, skipped or trials, not %q", what)
		}
	}
	if args[0] == "-" && args[1] == "-" {
		return option.Invalid("only one of the records can come from standard input")
	}
	runs := [2]*result.Run{}
	for i, path := range args {
		run, err := readRecord(s.In, path)
		if err != nil {
			return err
		}
		defer run.Close()
		runs[i] = run
	}
	c, err := compare.Runs(runs[0], runs[1], f.Options)
	if err != nil {
		return option.Fail(option.ExitInternal, "%v", err)
	}
	for i, counted := range []result.Summary{c.Before, c.After} {
		if f.Variants != nil && counted.Total == 0 {
			return option.Invalid("--variants: no test in %s ran on a variant %q", args[i], f.Variants[i])
		}
	}
	f.judge(c)
	if err := writeComparison(s, c, runs[1], f.format, f.output, f.color, f.verbose); err != nil {
		return err
	}
	if c.Regression {
		return &option.ExitError{Code: option.ExitFailed}
	}
	return nil
}

// judge adds the regressions of --fail-on.
func (f *compareFlags) judge(c *compare.Comparison) {
	for what, list := range map[string][]compare.Change{"slower": c.Slower, "removed": c.Removed, "skipped": c.Skipped} {
		c.Regression = c.Regression || slices.Contains(f.failOn, what) && len(list) > 0
	}
	for i := range c.Pairs {
		c.Regression = c.Regression || slices.Contains(f.failOn, "trials") && c.Pairs[i].Worse()
	}
	if slices.Contains(f.failOn, "scores") {
		for _, ch := range c.Scores {
			c.Regression = c.Regression || *ch.AfterScore < *ch.BeforeScore
		}
	}
}

func writeComparison(s cmdutil.Streams, c *compare.Comparison, after *result.Run, format, output, color string, verbose bool) error {
	if _, err := term.Detect(s.Out, s.Env, color); err != nil {
		return option.Invalid("%v", err)
	}
	spec := report.Spec{Path: output, Format: report.Format{Write: func(w io.Writer, _ *result.Run, o render.Options) error {
		switch format {
		case "json":
			return c.WriteJSON(w)
		case "html":
			return html.Write(w, after, c.Page())
		}
		return c.WriteText(w, o)
	}}}
	if err := writeReport(s, spec, nil, render.Options{Verbose: verbose}, color); err != nil && !isBrokenPipe(err) {
		return option.Fail(option.ExitInternal, "%v", err)
	}
	return nil
}
