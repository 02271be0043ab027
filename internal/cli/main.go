package cli

import (
	"errors"
	"fmt"

	"mcptest/internal/cli/explore"
	"mcptest/internal/cli/option"
	"mcptest/internal/cli/server"
	"mcptest/internal/cli/skill"
	"mcptest/internal/cli/stress"
	"mcptest/internal/cli/tape"

	"github.com/spf13/cobra"

	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/server/proxy"
)

// Main runs the command line of mcptest; args do not include the program's name. It
// returns the exit code.
func Main(args []string, s cmdutil.Streams) int {
	if cmdutil.Watchdog(args, s) {
		return option.ExitPassed
	}
	if len(args) > 0 && args[0] == proxy.IsolateArg {
		if err := proxy.BecomeIsolated(args[1:]); err != nil {
			fmt.Fprintln(s.Err, "mcptest: "+err.Error())
			return option.ExitInternal
		}
		return option.ExitPassed
	}
	s.Args = args
	root := newRoot(s)
	root.SetArgs(args)
	root.SetIn(s.In)
	root.SetOut(cmdutil.VersionOut{Writer: s.Out})
	root.SetErr(s.Err)
	cmd, err := root.ExecuteC()
	if err == nil {
		return option.ExitPassed
	}
	if ee, ok := errors.AsType[*option.ExitError](err); ok {
		option.PrintError(s.Err, err)
		return ee.Code
	}
	// An error of cobra: unknown commands and flags, wrong arguments.
	cmdutil.UsageError(s.Err, cmd, err)
	return option.ExitInvalid
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
	root.Version = formatVersion()
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return cmdutil.FlagError(cmd, err, s.Args) })
	root.SetHelpCommand(newHelpCmd(s))
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpFunc(option.InSections(root.HelpFunc()))
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
	}
	defer addGroups(root)
	commands := listConstructors()
	if len(s.Args) > 0 {
		if newCommand := commands[s.Args[0]]; newCommand != nil {
			// Adding the flags of all other commands takes longer than a test, and a mock
			// server is started for many.
			root.AddCommand(newCommand(s))
			return root
		}
	}
	for _, newCommand := range commands {
		root.AddCommand(newCommand(s))
	}
	completeFlags(s, root)
	return root
}

// listConstructors returns the functions that build the commands with their flags, by name.
func listConstructors() map[string]func(cmdutil.Streams) *cobra.Command {
	return map[string]func(cmdutil.Streams) *cobra.Command{
		"call":       server.NewCallCmd,
		"cassette":   tape.NewCassetteCmd,
		"check":      server.NewCheckCmd,
		"compare":    newCompareCmd,
		"completion": newCompletionCmd,
		"diff":       server.NewDiffCmd,
		"doctor":     server.NewDoctorCmd,
		"down":       newDownCmd,
		"evidence":   server.NewEvidenceCmd,
		"explain":    newExplainCmd,
		"init":       newInitCmd,
		"leak":       stress.NewLeakCmd,
		"load":       stress.NewLoadCmd,
		"lock":       server.NewLockCmd,
		"login":      server.NewLoginCmd,
		"logout":     server.NewLogoutCmd,
		"mock":       server.NewMockCmd,
		"probe":      server.NewProbeCmd,
		"prompts":    server.NewPromptsCmd,
		"record":     tape.NewRecordCmd,
		"report":     newReportCmd,
		"resources":  server.NewResourcesCmd,
		"run":        newRunCmd,
		"schema":     newSchemaCmd,
		"serve":      tape.NewServeCmd,
		"skill":      skill.NewCmd,
		"tools":      server.NewToolsCmd,
		"ui":         explore.NewCmd,
		"validate":   newValidateCmd,
		"version":    newVersionCmd,
	}
}
