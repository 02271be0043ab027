package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"mcptest/internal/cmdutil"
	"mcptest/internal/secret"
	"mcptest/internal/term"
)

// Exit codes of mcptest. Where several hold, the first of this list wins:
// a signal (128 + its number), 2, 1, 3, 4, 7.
const (
	exitPassed   = 0
	exitFailed   = 1 // a test failed, or a server could not be started or tested
	exitInvalid  = 2 // invalid suite, flags or environment, or setup failed
	exitReady    = 3 // --wait-for-ready ran out
	exitInternal = 4 // our own failure, or a report could not be written
	exitPolicy   = 5 // refused by policy
	exitGate     = 6 // a quality gate failed: check, diff, lock --check
	exitNothing  = 7 // no test selected
)

// exitError ends a command with a code; the message may be empty.
type exitError struct {
	code int
	msg  string
}

// Error returns the message.
func (e *exitError) Error() string { return e.msg }

func fail(code int, format string, args ...any) error {
	return &exitError{code: code, msg: fmt.Sprintf(format, args...)}
}

// Main is the command line of mcptest, without the program's name. It returns
// the exit code.
func Main(args []string, s cmdutil.Streams) int {
	if cmdutil.Watchdog(args, s) {
		return exitPassed
	}
	s.Args = args
	root := newRoot(s)
	root.SetArgs(args)
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	cmd, err := root.ExecuteC()
	if err == nil {
		return exitPassed
	}
	var ee *exitError
	if errors.As(err, &ee) {
		if ee.msg != "" {
			fmt.Fprintln(s.Err, "mcptest: "+term.Escape(secret.NewRedactor().String(ee.msg)))
		}
		return ee.code
	}
	// What cobra itself refuses: unknown commands and flags, wrong arguments.
	cmdutil.UsageError(s.Err, cmd, err)
	return exitInvalid
}

func newRoot(s cmdutil.Streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "mcptest",
		Short: "Test MCP servers from YAML suites",
		Long: `mcptest starts or connects to MCP servers, makes the calls listed in a YAML suite,
and checks the responses: matchers, weighted scores, thresholds, metrics.
It reports what clients hide: raw messages, stray output, wrong ids, leaked processes.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.Version = versionLine()
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetFlagErrorFunc(cmdutil.FlagError)
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(newRunCmd(s), newDownCmd(s), newValidateCmd(s), newInitCmd(s), newExplainCmd(s), newSchemaCmd(s), newReportCmd(s), newCompareCmd(s), newMockCmd(s),
		newLoginCmd(s), newLogoutCmd(s),
		newToolsCmd(s), newResourcesCmd(s), newPromptsCmd(s), newCallCmd(s), newDoctorCmd(s), newCheckCmd(s), newLockCmd(s), newDiffCmd(s),
		newVersionCmd(s), newCompletionCmd(s))
	root.SetHelpFunc(limitsApart(root.HelpFunc()))
	completeFlags(s, root)
	return root
}
