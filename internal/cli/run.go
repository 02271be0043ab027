package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mcptest/internal/base/display"
	"mcptest/internal/base/lazy"
	"mcptest/internal/base/secret"
	"mcptest/internal/base/shellwords"
	"mcptest/internal/base/source"
	"mcptest/internal/base/term"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
	"mcptest/internal/cli/playback"
	"mcptest/internal/cli/upstreams"
	"mcptest/internal/report"
	"mcptest/internal/report/result"
	"mcptest/internal/run"
	"mcptest/internal/run/detach"
	"mcptest/internal/run/history"
	"mcptest/internal/run/watch"
	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
)

// runFlags are the flags of `mcptest run`.
type runFlags struct {
	option.SuiteFlags
	filters, tags, skipTags, servers []string
	reporters                        []string
	output                           string
	failFast                         bool
	gates                            history.Gates
	parallel                         option.Parallel
	timeout                          time.Duration
	retries                          int
	list, dryRun                     bool
	noProgress, quiet, verbose       bool
	noDiagnosis                      bool
	shuffle                          shuffle
	setupOnly                        bool
	updateSnapshots, allowInCI, open bool
	stopAtEOF                        bool
	logLevel                         string
	baseline                         string
	lastFailed                       bool
	changed                          string
	shard                            string
	verdicts                         *history.Verdicts
	tokenFile                        string
	waitForReady                     time.Duration
	limits                           option.LimitFlags
	coverage                         bool
	cassettes                        playback.Flags
	upstreams                        upstreams.Flags
	traffic                          *upstreams.Traffic
	part                             *result.Shard // nil: the whole plan

	watching bool
	host     *host                // shared by the runs of --watch; nil: each run has its own
	warm     *run.Warm            // nil: servers end with the run
	loaded   func(files []string) // called with the files that were read; may be nil
}

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
	fl.StringArrayVarP(&f.reporters, "reporter", "r", nil, "`name` or name=path; may be repeated; the terminal shows pretty unless another reporter writes there: "+formatNames())
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
	specs, err := f.specs()
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
		return option.Fail(option.ExitNothing, "no test selected: %s", f.selection(p))
	}
	if f.part, err = f.split(s, p, suites); err != nil {
		return err
	}
	switch {
	case f.list:
		return listTests(s.Out, p)
	case f.dryRun:
		return dryRun(s.Out, p)
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

// checkFlags returns why the values of flags are wrong that need no suite.
func (f *runFlags) checkFlags(cmd *cobra.Command) error {
	if err := f.checkNumbers(cmd); err != nil {
		return err
	}
	if err := f.shuffle.check(); err != nil {
		return err
	}
	return f.limits.Check()
}

// plan loads and compiles the suites; mistakes are printed and end the command.
func (f *runFlags) plan(cmd *cobra.Command, args []string, s cmdutil.Streams) (*plan.Plan, []*suite.Suite, error) {
	if err := f.checkFlags(cmd); err != nil {
		return nil, nil, err
	}
	if _, err := option.KnownClient(f.Client); err != nil {
		return nil, nil, err
	}
	if _, err := term.Detect(io.Discard, s.Env, f.Color); err != nil {
		return nil, nil, option.Invalid("%v", err)
	}
	if err := f.refuseProgram(cmd, args); err != nil {
		return nil, nil, err
	}
	args, places := placesIn(args)
	paths, err := f.Paths(args)
	if err != nil {
		return nil, nil, err
	}
	f.Random.Rewritten = func(name string) bool { return f.upstreams.Records(name) && !f.selects() && !f.lastFailed }
	f.Static, f.Programs = f.list || f.dryRun, nil // with --watch, they run again
	suites, diags, err := f.Load(paths, s)
	if err != nil {
		return nil, nil, err
	}
	f.shuffle.files(suites)
	traffic, wrong, err := f.upstreams.Open(suites)
	if err != nil {
		return nil, nil, err
	}
	f.traffic, diags = traffic, append(diags, wrong...)
	set := f.Settings(s)
	set.Alone, set.Models = traffic.Alone, f.upstreams.Models
	set.Filters, set.Tags, set.SkipTags, set.Servers = f.filters, f.tags, f.skipTags, f.servers
	set.Names, set.Places = f.namesToRun(s, suites), places
	set.WaitForReady = f.waitForReady
	set.Timeout, set.Parallel, set.FailFast = f.timeout, int(f.parallel), f.failFast
	if cmd.Flags().Changed("retries") {
		set.Retries = &f.retries
	}
	p, more := plan.Compile(suites, set)
	f.shuffle.tests(p)
	diags = append(diags, more...)
	if f.loaded != nil {
		files := slices.Concat(paths, f.EnvFiles, watch.Inputs(suites, p))
		if f.baseline != "" {
			files = append(files, f.baseline)
		}
		f.loaded(files)
		watch.SortFailedFirst(p, history.Failed(suites))
	}
	var errs int
	if errs, f.gates.Loading = f.Print(s, diags); errs > 0 {
		return nil, nil, option.Invalid("%s in %s; nothing was run", display.Count(errs, "error"), mistakePlace(diags, strings.Join(paths, ", ")))
	}
	if err := f.knownServers(suites); err != nil {
		return nil, nil, err
	}
	return p, suites, option.SelectChanged(cmd.Context(), s, p, f.changed)
}

// checkNumbers returns an error for a number that a flag can't have.
func (f *runFlags) checkNumbers(cmd *cobra.Command) error {
	switch {
	case f.retries < 0 || f.retries > 100:
		return option.Invalid("--retries must be from 0 to 100")
	case cmd.Flags().Changed("timeout") && f.timeout <= 0:
		return option.Invalid("--timeout must be greater than zero")
	case cmd.Flags().Changed("wait-for-ready") && f.waitForReady <= 0:
		return option.Invalid("--wait-for-ready must be greater than zero")
	}
	return nil
}

// knownServers returns an error if no suite declares a --server.
func (f *runFlags) knownServers(suites []*suite.Suite) error {
	var all suite.Suite
	for _, s := range suites {
		all.Servers = append(all.Servers, s.Servers...)
	}
	for _, name := range f.servers {
		if !slices.ContainsFunc(all.Servers, func(sv *suite.Server) bool { return suite.MatchName(name, sv.Name) }) {
			return option.Invalid("--server: no suite declares a server called %q%s", name, source.Parenthesis(all.ServerHint(name)))
		}
	}
	return nil
}

// placeOf splits FILE:LINE and FILE:LINE:COLUMN.
var placeOf = lazy.Regexp(`^(.+?):([1-9]\d*)(?::\d+)?$`)

// placesIn splits the arguments that name a line of a file, as reports print it, unless
// there is a file with the whole name.
func placesIn(args []string) (paths []string, places []plan.Place) {
	for _, arg := range args {
		m := placeOf().FindStringSubmatch(arg)
		if _, err := os.Stat(arg); err == nil || m == nil {
			paths = append(paths, arg)
			continue
		}
		paths = append(paths, m[1])
		line, _ := strconv.Atoi(m[2])
		if abs, err := filepath.Abs(m[1]); err == nil {
			places = append(places, plan.Place{File: abs, Line: line})
		}
	}
	return paths, places
}

// refuseProgram says where a program or an address belongs: the servers of a run are those
// of its suites.
func (f *runFlags) refuseProgram(cmd *cobra.Command, args []string) error {
	if at := cmd.ArgsLenAtDash(); at >= 0 && at < len(args) {
		program := shellwords.QuoteAllForShell(args[at:])
		if at > 0 {
			return option.Invalid("run takes the servers from the suite: write in %s: servers: {api: {command: %s}}", args[0], program)
		}
		return option.Invalid("run takes suites, and the servers are in them: to write one for this server: mcptest init -- %s; to judge it without a suite: mcptest probe -- %s", program, program)
	}
	for _, arg := range args {
		if strings.HasPrefix(arg, "http://") || strings.HasPrefix(arg, "https://") {
			return option.Invalid("run takes suites, and the servers are in them: to write one for this server: mcptest init --url %s; to judge it without a suite: mcptest probe --url %s", arg, arg)
		}
	}
	return nil
}

// refuseFormat says how to write a report in the format that the name of its file promises.
func (f *runFlags) refuseFormat() error {
	if f.output == "" || len(f.reporters) > 0 {
		return nil
	}
	for _, format := range report.Formats {
		if format.Ext != ".txt" && format.Ext == filepath.Ext(f.output) {
			return option.Invalid("-o %s would contain the text of the terminal; write --reporter %s=%s", f.output, format.Name, f.output)
		}
	}
	return nil
}

// selects reports whether a flag selects tests.
func (f *runFlags) selects() bool {
	selectors := len(f.filters) + len(f.tags) + len(f.skipTags) + len(f.servers) + len(f.changed)
	return selectors+len(f.upstreams.Models) > 0
}

// selectionFlags returns the flags that select tests, as written.
func (f *runFlags) selectionFlags() string {
	var parts []string
	add := func(flag string, values []string) {
		for _, v := range values {
			parts = append(parts, flag+" "+v)
		}
	}
	add("--filter", f.filters)
	add("--tag", f.tags)
	add("--skip-tag", f.skipTags)
	add("--server", f.servers)
	add("--model", f.upstreams.Models)
	add("--changed", strings.Fields(f.changed))
	if f.lastFailed {
		parts = append(parts, "--last-failed")
	}
	return strings.Join(parts, " ")
}

// selectionNotes returns a note if not all tests of the suites were run, so that the report
// is not mistaken for that of the whole.
func (f *runFlags) selectionNotes(p *plan.Plan) []string {
	have, all := p.Len(), p.Total()
	if f.part != nil {
		have = f.part.Tests
	}
	if have == all {
		return nil
	}
	return []string{fmt.Sprintf("%d of %s selected: %s", have, display.Count(all, "test"), cmp.Or(f.selectionFlags(), "only: in the suite"))}
}

// rerunFlags returns the flags that affect a test and must be repeated to run it
// alone.
func (f *runFlags) rerunFlags() []string {
	var out []string
	for _, v := range f.Vars {
		out = append(out, "--var", v)
	}
	for _, file := range f.EnvFiles {
		out = append(out, "--env-file", file)
	}
	if f.AllowOutside {
		out = append(out, "--allow-outside")
	}
	if f.Client != "" {
		out = append(out, "--client", f.Client)
	}
	if f.timeout > 0 {
		out = append(out, "--timeout", f.timeout.String())
	}
	return append(out, f.cassettes.Again()...)
}

// execute runs the plan and writes the reports.
func (f *runFlags) execute(
	ctx context.Context, s cmdutil.Streams, p *plan.Plan, suites []*suite.Suite, specs []report.Spec,
) error {
	redactor := secret.NewRedactor()
	redactor.Add(f.Secrets...)
	log, closeLog, err := option.OpenLog(s.Err, f.logLevel, redactor)
	if err != nil {
		return err
	}
	defer closeLog()
	tapes, notes, err := f.cassettes.Open(s, p, redactor, f.selectionNotes(p))
	if err != nil {
		return err
	}
	up, err := f.detach(suites)
	if err != nil {
		return err
	}
	h := f.host
	if h == nil {
		h = openHost(ctx, s, log, f.stopAtEOF)
		defer h.close()
	}
	ctx, s = h.ctx, h.streams

	live, status := f.live(s, specs)
	logs, listeners := openLogs(s, specs)
	times := history.Stopwatch{}
	rec := result.NewRecorder(result.RecorderOptions{Redactor: redactor, Listeners: append(listeners, live, times, f.verdicts)})
	defer rec.Close()
	opts := f.runOptions(s, p)
	opts.Notes = append(f.shuffle.note(), notes...)
	opts.Live = status.Live() || f.stopAtEOF // a program follows the run
	deps := f.runDeps(h.world, rec, redactor, log)
	deps.Eras = history.LoadEras(f.erasDir(suites))
	f.traffic.Connect(&deps, p, s.Self, len(f.selectionNotes(p)) == 0)
	tapes.Connect(&deps)
	if f.warm != nil && watch.KeepServers(ctx, f.warm, p) {
		deps.Warm, deps.KillOrphans = f.warm, nil // the servers must keep running
	}
	if up != nil {
		leaveRunning(up, h.world, &opts, &deps)
	}
	return option.Guarded(h.world, s.Err, func() error {
		code := run.Run(ctx, p, opts, deps)
		live.Close()
		lost := tapes.Finish(s.Err, ctx.Err() != nil)
		f.saveHistory(s, suites, times, deps.Eras, redactor, log)
		if up != nil {
			finishSetup(s, up)
		}
		code = f.traffic.Save(s.Err, code)
		err := f.finish(s, rec, specs, logs, code)
		if lost != nil {
			return lost
		}
		return err
	})
}

// detach begins what --setup-only leaves running; nil without this flag.
func (f *runFlags) detach(suites []*suite.Suite) (*detach.State, error) {
	if !f.setupOnly {
		return nil, nil
	}
	up, err := detach.Begin(suites, detach.Options{EnvFiles: f.EnvFiles, Vars: f.Vars, AllowOutside: f.AllowOutside})
	if err != nil {
		return nil, option.Invalid("%v", err)
	}
	return up, nil
}

// runOptions returns what the flags and the environment say about a run of p.
func (f *runFlags) runOptions(s cmdutil.Streams, p *plan.Plan) run.Options {
	return run.Options{
		Tool:            result.Tool{Name: "mcptest", Version: cmdutil.Version()},
		Command:         "mcptest " + shellwords.QuoteAll(s.Args),
		RerunFlags:      f.rerunFlags(),
		Shard:           f.part,
		Dir:             option.RepositoryDir(s.Env),
		Limits:          f.limits.Wire(),
		Tokens:          f.tokenFile,
		LeftUp:          detach.Running(),
		Snapshots:       option.Snapshots(s.Env, f.updateSnapshots, f.cassettes.Damage),
		NoDiagnosis:     f.noDiagnosis || f.cassettes.Record != "", // a recording has what the tests did
		Coverage:        f.coverage,
		CoveragePartial: strings.Join(f.selectionNotes(p), ""),
		Origin:          option.Origin(s.Env),
		Damaged:         f.cassettes.Damage,
	}
}

// runDeps returns what a run uses of this program: the record, the log and its processes.
func (f *runFlags) runDeps(
	w *cmdutil.World,
	rec *result.Recorder,
	redactor *secret.Redactor,
	log *slog.Logger,
) run.Deps {
	return run.Deps{
		Send:          rec.Send,
		Secret:        redactor.Add,
		Redactor:      redactor,
		Log:           log,
		Registry:      w.Registry,
		KillOrphans:   w.Sweep,
		OnCaseDone:    f.verdicts.CaseDone,
		FinalFindings: f.verdicts.Findings,
		LastFindings:  f.verdicts.Last,
	}
}

// mistakePlace returns where the mistakes are: in the files, or only in the flags.
func mistakePlace(diags source.Diagnostics, files string) string {
	for _, d := range diags {
		if d.Severity == source.Error && (len(d.Path) < 2 || d.Path[:2] != "--") {
			return files
		}
	}
	return "the command line"
}

// selection describes the selection, if it matches no test.
func (f *runFlags) selection(p *plan.Plan) string {
	n := p.Total()
	if n == 0 {
		return "the suites contain no tests"
	}
	if f.lastFailed && !f.selects() {
		return fmt.Sprintf("the tests that failed in the last run are not among the %s of the suites; run all tests once, without --last-failed", display.Count(n, "test"))
	}
	if n == 1 {
		return "the only test does not match " + f.selectionFlags()
	}
	word := "matches"
	if len(f.filters)+len(f.tags)+len(f.skipTags)+len(f.servers) > 0 && f.lastFailed {
		word = "matches all of"
	}
	return fmt.Sprintf("none of the %s %s %s", display.Count(n, "test"), word, f.selectionFlags())
}
