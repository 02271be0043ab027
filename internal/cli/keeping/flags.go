package keeping

import (
	"strings"

	"github.com/spf13/cobra"

	"mcptest/internal/base/term"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
)

// Flags say in which suite a request is kept as a test, and how.
type Flags struct {
	Suite      string
	name       string
	yes, print bool
	named      func() bool // whether --name was given
}

// Add defines the flags of a command that makes a request.
func (f *Flags) Add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.Suite, "keep", "", "insert the request and its answer as a test into this suite `file`, after showing the change")
	f.AddHow(cmd)
}

// AddHow defines the flags other than --keep.
func (f *Flags) AddHow(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.name, "name", "", "the `name` of the kept test (default: made from the request)")
	fl.BoolVar(&f.yes, "yes", false, "insert the kept test without asking")
	fl.BoolVar(&f.print, "print", false, "print the test to be kept, and write nothing")
	cmd.MarkFlagsMutuallyExclusive("yes", "print")
	f.named = func() bool { return fl.Changed("name") }
}

// Printing reports whether standard output is for the kept test.
func (f *Flags) Printing() bool { return f.Suite != "" && f.print }

// check refuses what needs no look at the suite.
func (f *Flags) check(s cmdutil.Streams) error {
	switch {
	case f.named() && strings.TrimSpace(f.name) == "":
		return option.Invalid("--name: the name is empty")
	case strings.ContainsAny(f.name, "\r\n"):
		return option.Invalid("--name: the name has a line break")
	case f.print:
		return nil
	case cmdutil.IsInCI(s.Env):
		return option.Fail(option.ExitPolicy, "--keep writes no suite because CI is set; --print shows the test")
	case !f.yes && !(term.IsTerminal(s.In) && term.IsTerminal(s.Err)):
		return option.Invalid("--keep shows the change and asks, and there is no terminal: --yes inserts without asking, --print writes nothing")
	}
	return nil
}
