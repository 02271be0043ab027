package tape

import (
	"github.com/spf13/cobra"

	"mcptest/internal/base/secret"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/keeping"
	"mcptest/internal/cli/option"
	"mcptest/internal/tape/promote"
)

func newKeepCmd(s cmdutil.Streams) *cobra.Command {
	var suites option.SuiteFlags
	var k keeping.Flags
	var line int
	var server string
	cmd := &cobra.Command{
		Use:   "keep FILE --call N SUITE",
		Short: "Insert a recorded request into a suite as a test",
		Long: `Insert one request of a cassette, with its recorded answer, as a test into a suite that exists, after showing the change
and asking; --yes does not ask, --print only prints the test. N is the line that mcptest cassette show prints for the
request. Stable parts of the answer are expected exactly, times, ids and paths loosely, secrets never. No server is
started, and no other byte of the suite changes.

Exit codes: 0 the test was inserted or printed, 1 the request has no answer that a test can expect, 2 invalid command line,
cassette or suite, or nothing was inserted, 5 refused in CI.`,
		Example: `  mcptest cassette show bug.cassette.ndjson
  mcptest cassette keep bug.cassette.ndjson --call 12 mcptest.yaml`,
		Args: cobra.ExactArgs(2),
	}
	fl := cmd.Flags()
	fl.IntVar(&line, "call", 0, "the `line` of the request, as mcptest cassette show prints it")
	fl.StringVar(&server, "server", "", "the server of the test, by its `name` in the suite (default: the one that was recorded, or the default)")
	fl.StringArrayVar(&suites.EnvFiles, "env-file", nil, "read variables from this `file` instead of .env")
	fl.StringArrayVar(&suites.Vars, "var", nil, "set a variable: `name=value`")
	fl.BoolVar(&suites.AllowOutside, "allow-outside", false, "allow imports, cases and schemas outside the suite's directory")
	fl.StringVar(&suites.Color, "color", "auto", "colors: auto, always or never")
	k.AddHow(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		k.Suite = args[1]
		if line <= 0 {
			return option.Invalid("--call N is missing: mcptest cassette show %s prints the line of each request", args[0])
		}
		return keepCall(cmd, s, &k, &suites, args[0], line, server)
	}
	return cmd
}

func keepCall(cmd *cobra.Command, s cmdutil.Streams, k *keeping.Flags, suites *option.SuiteFlags, file string, line int, server string) error {
	keeper, err := k.Begin(s, suites)
	if err != nil {
		return err
	}
	c, err := open(s, file)
	if err != nil {
		return err
	}
	defer c.Close()
	t, why, err := promote.PromoteOne(c, line)
	switch {
	case err != nil:
		return option.Invalid("%v", err)
	case why != "":
		return option.Fail(option.ExitFailed, "line %d of %s is not kept: %s", line, c.File, why)
	case t == nil:
		return option.Invalid("%s has no request in line %d: mcptest cassette show %s prints their lines", c.File, line, c.File)
	}
	redactor := secret.NewRedactor()
	redactor.Add(secret.FindInEnviron(s.Env)...)
	ctx, stop := cmdutil.WatchSignals(cmd.Context(), s.Err, func(int) {})
	defer stop()
	return keeper.Keep(ctx, keeping.Request{
		Test:     *t,
		Server:   server,
		Argv:     c.Server.Command,
		URL:      c.Server.URL,
		Redactor: redactor,
	})
}
