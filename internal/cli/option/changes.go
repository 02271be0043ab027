package option

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mcptest/internal/base/source"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/offer/diff"
	"mcptest/internal/report/gate"
)

// ChangeFlags define how changes of a server are printed and which of them fail.
type ChangeFlags struct{ format, failOn string }

// Add defines the flags. failOn is the default of --fail-on.
func (f *ChangeFlags) Add(cmd *cobra.Command, failOn string) {
	cmd.Flags().StringVarP(&f.format, "format", "f", "text", "`format` of the changes: "+strings.Join(gate.Formats(), ", "))
	cmd.Flags().StringVar(&f.failOn, "fail-on", failOn, "exit 6 for changes of this `class` and those before it: breaking, trust, review, any")
}

// Check reports invalid values. With json the format is JSON.
func (f *ChangeFlags) Check(json bool) error {
	if json {
		f.format = "json"
	}
	if err := OneOf("--format", []string{f.format}, gate.Formats()); err != nil {
		return err
	}
	return OneOf("--fail-on", []string{f.failOn}, []string{"breaking", "trust", "review", "any"})
}

// Any reports whether every change fails.
func (f *ChangeFlags) Any() bool { return f.failOn == "any" }

// Print prints the changes; its error is that of --fail-on.
func (f *ChangeFlags) Print(s cmdutil.Streams, changes []diff.Change) error {
	if err := diff.Write(s.Out, f.format, changes, cmdutil.Version()); err != nil {
		return Fail(ExitInternal, "write the changes: %s", cmdutil.Reason(err))
	}
	if slices.ContainsFunc(changes, func(c diff.Change) bool { return diff.Fails(c.Class, f.failOn) }) {
		return &ExitError{Code: ExitGate}
	}
	return nil
}

// OneOf reports the first value of a flag that is not allowed.
func OneOf(flag string, values, allowed []string) error {
	for _, v := range values {
		if !slices.Contains(allowed, v) {
			hint := source.Parenthesis(source.DidYouMean(v, allowed))
			return Invalid("%s must be one of %s, not %q%s", flag, strings.Join(allowed, ", "), v, hint)
		}
	}
	return nil
}
