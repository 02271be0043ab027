package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
)

func newRunCmd(s cmdutil.Streams) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:        "run [paths…] [flags]",
		SuggestFor: []string{"test"},
		Short:      "Run suites",
		Long: `Run suites. A path is a suite file, or a directory that is searched for
mcptest.yaml, *.mcptest.yaml and the same with .yml. FILE:LINE runs the test at or
above this line. Without a path, run ./mcptest.yaml or ./mcptest.yml.

Exit codes: 0 passed, 1 a test failed or a server could not be tested, 2 invalid
suite, flags or environment or a failed setup, 3 a server was not ready in time,
4 a report could not be written, 5 --update-snapshots, --record or
--record-upstream was refused in CI,
6 the coverage is below the minimum of a suite,
7 no tests selected, 129, 130 and 143 interrupted by SIGHUP, SIGINT and SIGTERM.`,
		Example: `  mcptest run
  mcptest run examples/suite-composition.yml
  mcptest run tests/ --tag smoke --reporter json=run.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.watching {
				return f.watch(cmd, args, s)
			}
			return f.run(cmd, args, s)
		},
	}
	f.SuiteFlags.Add(cmd)
	option.AddClient(cmd, &f.Client)
	fl := cmd.Flags()
	fl.StringArrayVarP(&f.filters, "filter", "k", nil, "run tests whose name contains this `text`, or matches re:REGEXP; !text and !re:REGEXP leave them out")
	fl.StringSliceVar(&f.tags, "tag", nil, "run tests with one of these `tags`")
	fl.StringSliceVar(&f.skipTags, "skip-tag", nil, "skip tests with one of these `tags`")
	fl.StringSliceVar(&f.servers, "server", nil, "run tests on these `servers` only")
	fl.StringArrayVarP(&f.reporters, "reporter", "r", nil, "`name` or name=path; may be repeated; the terminal shows pretty unless another reporter writes there: "+joinFormats())
	fl.StringVarP(&f.output, "output", "o", "", "write the (single) report to this `file`")
	f.addGates(fl)
	f.addDiagnosis(fl)
	fl.BoolVar(&f.coverage, "coverage", false, "measure how much of what the servers offer the tests examine")
	fl.BoolVar(&f.watching, "watch", false, "run again when a file of the suites changes, failed tests first; press q or Ctrl-C to stop")
	fl.StringVar(&f.shard, "shard", "", "run part `i/n` of the tests; mcptest report merge combines the records")
	fl.VarP(&f.parallel, "parallel", "p", "calls in flight on each server: `n` from 1 to 1024, or auto")
	fl.DurationVar(&f.timeout, "timeout", 0, "time limit for the calls of each test")
	fl.IntVar(&f.retries, "retries", 0, "retry a failed test up to `n` times")
	fl.BoolVar(&f.noProgress, "no-progress", false, "do not show the progress line")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "print only the reports named with --reporter, and errors")
	fl.BoolVar(&f.setupOnly, "setup-only", false, "run beforeAll and setup, leave what they started running, and exit; mcptest down stops it")
	fl.BoolVar(&f.open, "open", false, "show the HTML report in a browser after the run; requires --reporter html=FILE")
	fl.BoolVar(&f.stopAtEOF, "stop-at-eof", false, "end the run at the end of standard input, as at SIGTERM: so a program that started mcptest with a pipe ends it even if it is killed")
	fl.BoolVar(&f.updateSnapshots, "update-snapshots", false, "store the values that snapshots compare with, and remove those that no test uses; refused in CI (exit 5)")
	fl.BoolVar(&f.allowInCI, "allow-update-in-ci", false, "allow --update-snapshots, --record and --record-upstream although CI is set")
	fl.StringVar(&f.logLevel, "log-level", "warn", "log verbosity on stderr: error, warn, info or debug (output of every hook and step)")
	fl.DurationVar(&f.waitForReady, "wait-for-ready", 0, "wait up to this long for servers to become ready; exit 3 if one does not")
	f.upstreams.Add(cmd)
	option.AddTokenFile(cmd, &f.tokenFile)
	f.limits.Add(cmd)
	f.cassettes.Add(cmd)
	fl.BoolVarP(&f.verbose, "verbose", "v", false, "show the exchanges of every test, and passed tests")
	option.AddSections(cmd, runSections)
	return cmd
}

// addDiagnosis adds the flags about failures, the order of tests, and what would run.
func (f *runFlags) addDiagnosis(fl *pflag.FlagSet) {
	fl.BoolVar(&f.list, "list", false, "list the selected tests and exit")
	fl.BoolVar(&f.dryRun, "dry-run", false, "show what would run and exit")
	fl.BoolVar(&f.failFast, "fail-fast", false, "stop at the first failure")
	fl.BoolVar(&f.noDiagnosis, "no-diagnosis", false, "do not run a failed test again alone to find out whether another test caused its failure")
	f.shuffle.add(fl)
}

func (f *runFlags) run(cmd *cobra.Command, args []string, s cmdutil.Streams) error {
	if err := f.refuseFormat(); err != nil {
		return err
	}
	specs, err := f.parseSpecs()
	if err != nil {
		return err
	}
	if err := f.checkUpdate(s.Env); err != nil {
		return err
	}
	if err := f.upstreams.Check(s.Env, f.allowInCI); err != nil {
		return err
	}
	if err := f.cassettes.Check(s.Env, f.allowInCI, f.setupOnly); err != nil {
		return err
	}
	p, suites, err := f.plan(cmd, args, s)
	if err != nil {
		return err
	}
	if err := checkOverwrites(specs, suites); err != nil {
		return err
	}
	if p.Len() == 0 && (!f.setupOnly || f.selects()) {
		return option.Fail(option.ExitNothing, "no test selected: %s", f.describeSelection(p))
	}
	if f.part, err = f.takeShard(s, p, suites); err != nil {
		return err
	}
	switch {
	case f.list:
		return listTests(s.Out, p)
	case f.dryRun:
		return writeDryRun(s.Out, p)
	}
	var lost error
	f.tokenFile, lost = option.TokenPath(f.tokenFile, s)
	if err := f.NeedLogins(s, p, f.tokenFile, lost); err != nil && f.cassettes.Replay == "" {
		return err
	}
	if f.verdicts, err = f.readVerdicts(s, p); err != nil {
		return err
	}
	return f.execute(cmd.Context(), s, p, suites, specs)
}
