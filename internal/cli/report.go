package cli

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"mcptest/internal/base/term"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
	"mcptest/internal/report"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

func newReportCmd(s cmdutil.Streams) *cobra.Command {
	var format, output, color string
	var verbose, open bool
	cmd := &cobra.Command{
		Use:   "report FILE",
		Short: "Convert a saved record to another format",
		Long: `Convert a record saved with --reporter json=FILE or ndjson=FILE to another format;
the output is the same as at the end of the run. FILE - is standard input.`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			spec, err := report.ParseSpec(format)
			if err != nil {
				return option.Invalid("--format: %v", err)
			}
			if output != "" {
				spec.Path = output
			}
			if open && findHTMLFile([]report.Spec{spec}) == "" {
				return option.Invalid("--open requires --format html and --output")
			}
			run, err := readRecord(s.In, args[0])
			if err != nil {
				return err
			}
			defer run.Close()
			o := findSinceEarlier([]report.Spec{spec}, run).selectFor(spec, verbose)
			if err := writeReport(s, spec, run, o, color); err != nil {
				return option.Fail(option.ExitInternal, "%v", err)
			}
			if open {
				openReport(s, spec.Path)
			}
			return nil
		},
	}
	cmd.AddCommand(newMergeCmd(s))
	cmd.Flags().StringVarP(&format, "format", "f", "pretty", "format: "+joinFormats())
	cmd.Flags().StringVarP(&output, "output", "o", "", "write to this `file` instead of standard output")
	cmd.Flags().StringVar(&color, "color", "auto", "colors: auto, always or never")
	cmd.Flags().BoolVar(&open, "open", false, "show the HTML report in a browser; requires --format html and --output")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "also show exchanges and passed tests")
	return cmd
}

// writeReport writes one report to where it belongs.
func writeReport(s cmdutil.Streams, spec report.Spec, run *result.Run, o render.Options, color string) error {
	if spec.Path == "" {
		profile, err := term.Detect(s.Out, s.Env, color)
		if err != nil {
			return err
		}
		o.Palette = term.NewPalette(profile)
		if term.IsTerminal(s.Out) {
			o.Width = term.CountColumns(s.Out, 80)
		}
	}
	var sink *report.Sink
	var err error
	open := func() (temp string) {
		if sink, err = report.OpenSink(spec.Path, s.Out); err != nil || sink.Temp() == "" {
			return ""
		}
		temp, _ = filepath.Abs(sink.Temp())
		return temp
	}
	if s.KeepFile == nil {
		open()
	} else {
		defer s.KeepFile(open)()
	}
	if err != nil {
		return err
	}
	if err := spec.Format.Write(sink, run, o); err != nil {
		sink.Abort()
		return err
	}
	return sink.Commit()
}

func joinFormats() string {
	names := ""
	for i, f := range report.Formats {
		if i > 0 {
			names += ", "
		}
		names += f.Name
	}
	return names
}
