package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"mcptest/internal/report"
	"mcptest/internal/result"
	"mcptest/internal/term"
)

// compareFlags are the flags of `mcptest compare`.
type compareFlags struct {
	report.CompareOptions
	format, output, color string
	failOn                []string
	verbose               bool
}

func newCompareCmd(s Streams) *cobra.Command {
	var f compareFlags
	cmd := &cobra.Command{
		Use:   "compare OLD NEW",
		Short: "Compare two saved records",
		Long: `Compare two records that were saved with --reporter json=FILE or ndjson=FILE: what
fails newly, what was fixed, what got slower, whose score changed.

Exit codes: 0 no regression, 1 a regression, 2 a record that can't be read,
4 the comparison could not be written. A regression is a test that fails newly,
a new one included, and a later record that is not whole: cut off, interrupted,
without a test. --fail-on adds slower tests and lower scores.`,
		Example: `  mcptest compare main.json branch.json
  mcptest compare old.json new.json --fail-on slower,scores --slower 2`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("slower") && f.Slower < 1 {
				return fail(exitInvalid, "--slower: want a factor from 1")
			}
			return f.run(s, args)
		},
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.format, "format", "f", "text", "format: text or json")
	fl.StringVarP(&f.output, "output", "o", "", "write to this `file` instead of standard output")
	fl.StringVar(&f.color, "color", "auto", "colours: auto, always or never")
	fl.StringSliceVar(&f.failOn, "fail-on", nil, "count these as regressions too: `slower`, scores")
	fl.Float64Var(&f.Slower, "slower", 0, "`factor` from which a test is slower (default 1.5, and at least 50 ms)")
	fl.Float64Var(&f.Score, "score", 0, "least `change` of a score that is told (default 0.01)")
	fl.BoolVarP(&f.verbose, "verbose", "v", false, "list every change")
	return cmd
}

func (f *compareFlags) run(s Streams, args []string) error {
	if f.format != "text" && f.format != "json" {
		return fail(exitInvalid, "--format: want text or json, got %q", f.format)
	}
	for _, what := range f.failOn {
		if what != "slower" && what != "scores" {
			return fail(exitInvalid, "--fail-on: want slower or scores, got %q", what)
		}
	}
	if args[0] == "-" && args[1] == "-" {
		return fail(exitInvalid, "only one of the records can come from standard input")
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
	c, err := report.Compare(runs[0], runs[1], f.CompareOptions)
	if err != nil {
		return fail(exitInternal, "%v", err)
	}
	f.judge(c)
	if err := writeComparison(s, c, f.format, f.output, f.color, f.verbose); err != nil {
		return err
	}
	if c.Regression {
		return &exitError{code: exitFailed}
	}
	return nil
}

// judge adds what --fail-on counts as a regression.
func (f *compareFlags) judge(c *report.Comparison) {
	if slices.Contains(f.failOn, "slower") && len(c.Slower) > 0 {
		c.Regression = true
	}
	if slices.Contains(f.failOn, "scores") {
		for _, ch := range c.Scores {
			c.Regression = c.Regression || *ch.AfterScore < *ch.BeforeScore
		}
	}
}

func writeComparison(s Streams, c *report.Comparison, format, output, color string, verbose bool) error {
	o := report.Options{Verbose: verbose}
	if output == "" {
		profile, err := term.Detect(s.Out, s.Env, color)
		if err != nil {
			return fail(exitInvalid, "%v", err)
		}
		o.Palette = term.NewPalette(profile)
	}
	sink, err := report.OpenSink(output, s.Out)
	if err != nil {
		return fail(exitInternal, "%v", err)
	}
	if format == "json" {
		err = c.WriteJSON(sink)
	} else {
		err = c.WriteText(sink, o)
	}
	if err != nil {
		sink.Abort()
		return fail(exitInternal, "%v", err)
	}
	if err := sink.Commit(); err != nil && !isBrokenPipe(err) {
		return fail(exitInternal, "%v", err)
	}
	return nil
}
