package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"mcptest/internal/base/display"
	"mcptest/internal/base/term"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
	"mcptest/internal/cli/upstreams"
	"mcptest/internal/spec/plan"
)

func newValidateCmd(s cmdutil.Streams) *cobra.Command {
	var f option.SuiteFlags
	var strict bool
	cmd := &cobra.Command{
		Use:        "validate [paths…]",
		SuggestFor: []string{"check-syntax"},
		Short:      "Check suites without running anything",
		Long: `Check suites without running anything, and list every error with its position.
Exit codes: 0 no errors, 2 otherwise; with --fail-on-warnings 2 for a warning, too.`,
		RunE: func(_ *cobra.Command, args []string) error {
			if _, err := term.Detect(io.Discard, s.Env, f.Color); err != nil {
				return option.Invalid("%v", err)
			}
			paths, err := f.Paths(args)
			if err != nil {
				return err
			}
			f.Static = true
			suites, diags, err := f.Load(paths, s)
			if err != nil {
				return err
			}
			_, wrong, err := new(upstreams.Flags).Open(suites)
			if err != nil {
				return err
			}
			diags = append(diags, wrong...)
			set := f.Settings(s)
			set.CI = false
			p, more := plan.Compile(suites, set)
			f.AddSecrets(suites)
			errs, warns := f.Print(s, append(diags, more...))
			if errs > 0 {
				return option.Invalid("%s, %s", display.Count(errs, "error"), display.Count(warns, "warning"))
			}
			if strict && warns > 0 {
				return option.Invalid("no errors, but %s (--fail-on-warnings)", display.Count(warns, "warning"))
			}
			files, tests := display.Count(len(suites), "suite"), display.Count(p.Len(), "test")
			_, err = fmt.Fprintf(s.Out, "%s, %s, no errors, %s\n", files, tests, display.Count(warns, "warning"))
			return err
		},
	}
	f.Add(cmd)
	cmd.Flags().BoolVar(&strict, "fail-on-warnings", false, "exit 2 if there is a warning")
	return cmd
}
