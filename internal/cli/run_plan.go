package cli

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"mcptest/internal/base/display"
	"mcptest/internal/base/lazy"
	"mcptest/internal/base/shellwords"
	"mcptest/internal/base/source"
	"mcptest/internal/base/term"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
	"mcptest/internal/report"
	"mcptest/internal/run/history"
	"mcptest/internal/run/watch"
	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
)

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
	if err := f.checkCommand(cmd, args, s); err != nil {
		return nil, nil, err
	}
	args, places := splitPlaces(args)
	paths, err := f.Paths(args)
	if err != nil {
		return nil, nil, err
	}
	suites, diags, err := f.loadSuites(paths, s)
	if err != nil {
		return nil, nil, err
	}
	set := f.makeSettings(cmd, s, suites)
	set.Places = places
	p, more := plan.Compile(suites, set)
	f.AddSecrets(suites)
	f.shuffle.shuffleTests(p)
	diags = append(diags, more...)
	if f.loaded != nil {
		f.loaded(f.listInputs(paths, suites, p))
		watch.SortFailedFirst(p, history.Failed(suites))
	}
	var errs int
	if errs, f.gates.Loading = f.Print(s, diags); errs > 0 {
		return nil, nil, option.Invalid("%s in %s; nothing was run", display.Count(errs, "error"),
			describeMistakePlace(diags, strings.Join(paths, ", ")))
	}
	if err := f.checkServers(suites); err != nil {
		return nil, nil, err
	}
	return p, suites, option.SelectChanged(cmd.Context(), s, p, f.changed)
}

// checkCommand returns what is wrong with the command line that no suite has to be read for.
func (f *runFlags) checkCommand(cmd *cobra.Command, args []string, s cmdutil.Streams) error {
	if err := f.checkFlags(cmd); err != nil {
		return err
	}
	if _, err := option.KnownClient(f.Client); err != nil {
		return err
	}
	if _, err := term.Detect(io.Discard, s.Env, f.Color); err != nil {
		return option.Invalid("%v", err)
	}
	return f.refuseProgram(cmd, args)
}

// loadSuites reads the suites and opens the recordings of their upstreams.
func (f *runFlags) loadSuites(paths []string, s cmdutil.Streams) ([]*suite.Suite, source.Diagnostics, error) {
	f.Random.Rewritten = func(name string) bool { return f.upstreams.Records(name) && !f.selects() && !f.lastFailed }
	f.Static, f.Programs = f.list || f.dryRun, nil // with --watch, they run again
	suites, diags, err := f.Load(paths, s)
	if err != nil {
		return nil, nil, err
	}
	f.shuffle.shuffleFiles(suites)
	traffic, wrong, err := f.upstreams.Open(suites)
	if err != nil {
		return nil, nil, err
	}
	f.traffic = traffic
	return suites, append(diags, wrong...), nil
}

// makeSettings returns what the flags say about a plan.
func (f *runFlags) makeSettings(cmd *cobra.Command, s cmdutil.Streams, suites []*suite.Suite) plan.Settings {
	set := f.Settings(s)
	set.Alone, set.Models = f.traffic.Alone, f.upstreams.Models
	set.Filters, set.Tags, set.SkipTags, set.Servers = f.filters, f.tags, f.skipTags, f.servers
	set.Names = f.listNamesToRun(s, suites)
	set.WaitForReady = f.waitForReady
	set.Timeout, set.Parallel, set.FailFast = f.timeout, int(f.parallel), f.failFast
	if cmd.Flags().Changed("retries") {
		set.Retries = &f.retries
	}
	return set
}

// listInputs returns the files whose change makes --watch run again.
func (f *runFlags) listInputs(paths []string, suites []*suite.Suite, p *plan.Plan) []string {
	files := slices.Concat(paths, f.EnvFiles, watch.Inputs(suites, p))
	if f.baseline != "" {
		files = append(files, f.baseline)
	}
	return files
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

// checkServers returns an error if no suite declares a --server.
func (f *runFlags) checkServers(suites []*suite.Suite) error {
	var all suite.Suite
	for _, s := range suites {
		all.Servers = append(all.Servers, s.Servers...)
	}
	for _, name := range f.servers {
		if !slices.ContainsFunc(all.Servers, func(sv *suite.Server) bool { return suite.MatchName(name, sv.Name) }) {
			return option.Invalid("--server: no suite declares a server called %q%s", name,
				source.Parenthesis(all.SuggestServer(name)))
		}
	}
	return nil
}

// placeOf splits FILE:LINE and FILE:LINE:COLUMN.
var placeOf = lazy.Regexp(`^(.+?):([1-9]\d*)(?::\d+)?$`)

// splitPlaces splits the arguments that name a line of a file, as reports print it, unless
// there is a file with the whole name.
func splitPlaces(args []string) (paths []string, places []plan.Place) {
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

// describeMistakePlace returns where the mistakes are: in the files, or only in the flags.
func describeMistakePlace(diags source.Diagnostics, files string) string {
	for _, d := range diags {
		if d.Severity == source.Error && (len(d.Path) < 2 || d.Path[:2] != "--") {
			return files
		}
	}
	return "the command line"
}
