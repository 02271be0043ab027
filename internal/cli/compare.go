package cli

import (
	"github.com/spf13/cobra"

	"mcptest/internal/report"
	"mcptest/internal/result"
	"mcptest/internal/term"
)

func newCompareCmd(s Streams) *cobra.Command {
	var format, output, color string
	var failOn []string
	var o report.CompareOptions
	var verbose bool
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
			if format != "text" && format != "json" {
				return fail(exitInvalid, "--format: want text or json, got %q", format)
			}
			if cmd.Flags().Changed("slower") && o.Slower < 1 {
				return fail(exitInvalid, "--slower: want a factor from 1")
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
			c, err := report.Compare(runs[0], runs[1], o)
			if err != nil {
				return fail(exitInternal, "%v", err)
			}
			for _, what := range failOn {
				switch what {
				case "slower":
					c.Regression = c.Regression || len(c.Slower) > 0
				case "scores":
					for _, ch := range c.Scores {
						c.Regression = c.Regression || *ch.AfterScore < *ch.BeforeScore
					}
				default:
					return fail(exitInvalid, "--fail-on: want slower or scores, got %q", what)
				}
			}
			if err := writeComparison(s, c, format, output, color, verbose); err != nil {
				return err
			}
			if c.Regression {
				return &exitError{code: exitFailed}
			}
			return nil
		},
	}
	fl := cmd.Flags()
	fl.StringVarP(&format, "format", "f", "text", "format: text or json")
	fl.StringVarP(&output, "output", "o", "", "write to this `file` instead of standard output")
	fl.StringVar(&color, "color", "auto", "colours: auto, always or never")
	fl.StringSliceVar(&failOn, "fail-on", nil, "count these as regressions too: `slower`, scores")
	fl.Float64Var(&o.Slower, "slower", 0, "`factor` from which a test is slower (default 1.5, and at least 50 ms)")
	fl.Float64Var(&o.Score, "score", 0, "least `change` of a score that is told (default 0.01)")
	fl.BoolVarP(&verbose, "verbose", "v", false, "list every change")
	return cmd
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
