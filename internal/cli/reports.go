package cli

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"mcptest/internal/base/display"
	"mcptest/internal/base/filekind"
	"mcptest/internal/base/osfile"
	"mcptest/internal/base/secret"
	"mcptest/internal/base/syserr"
	"mcptest/internal/base/term"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
	"mcptest/internal/cli/playback"
	"mcptest/internal/report"
	"mcptest/internal/report/pretty"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
	"mcptest/internal/run/connect"
	"mcptest/internal/run/history"
	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
)

// parseSpecs parses the --reporter flags. The pretty report goes to standard output unless
// another one does, or --quiet is set.
func (f *runFlags) parseSpecs() ([]report.Spec, error) {
	if len(f.reporters) == 0 && f.output != "" {
		f.reporters = []string{"pretty"}
	}
	specs, err := reportSpecs("--reporter", f.reporters, f.output)
	if err == nil && f.open && findHTMLFile(specs) == "" {
		return nil, option.Invalid("--open requires --reporter html=FILE")
	}
	if err != nil || f.quiet || slices.ContainsFunc(specs, func(sp report.Spec) bool { return sp.Path == "" }) {
		return specs, err
	}
	pretty, err := report.Find("pretty")
	return append(specs, report.Spec{Format: pretty}), err
}

// onScreen reports whether a report continues the list of tests printed during the
// run.
func onScreen(sp report.Spec) bool { return sp.Format.Name == "pretty" && sp.Path == "" }

// reportSpecs parses the values of a flag with report names; output is the file of a
// single report without its own path.
func reportSpecs(flag string, names []string, output string) ([]report.Spec, error) {
	if output != "" && len(names) > 1 {
		return nil, option.Invalid("--output works with a single report only; use %s name=FILE", flag)
	}
	specs, err := report.ParseSpecs(names)
	if err != nil {
		return nil, option.Invalid("%s: %v", flag, err)
	}
	if output != "" && specs[0].Path == "" {
		specs[0].Path = output
	}
	return specs, nil
}

// checkOverwrites returns an error if a report would overwrite a suite file or a cassette.
func checkOverwrites(specs []report.Spec, suites []*suite.Suite) error {
	for _, spec := range specs {
		if strings.HasSuffix(spec.Path, playback.Suffix) {
			return option.Invalid("--reporter: %s is the name of a cassette; nothing was run", spec.Path)
		}
		for _, su := range suites {
			if spec.Path != "" && slices.Contains(su.Files, osfile.Place(spec.Path)) {
				return option.Invalid("--reporter: %s would replace the suite %s; nothing was run", spec.Format.Name, spec.Path)
			}
		}
	}
	return nil
}

// finish writes the reports; a failure does not prevent the others.
func (f *runFlags) finish(s cmdutil.Streams, rec *result.Recorder, specs []report.Spec, logs liveLogs, code int) error {
	record := rec.Run()
	var msgs []string
	note := func(what string, err error) {
		if err != nil && !isBrokenPipe(err) {
			msgs = append(msgs, what+": "+err.Error())
		}
	}
	note("keep the results", rec.Err())
	since := findSinceEarlier(specs, record)
	var written []render.Written
	write := func(i int, o render.Options) {
		spec, log := specs[i], logs[i]
		var err error
		if log != nil {
			err = log.close()
		} else {
			err = writeReport(s, spec, record, o, f.Color)
		}
		note("report "+spec.Format.Name, err)
		if err == nil && spec.Path != "" {
			written = append(written, render.Written{Format: spec.Format.Name, Path: spec.Path})
		}
	}
	for i, spec := range specs {
		if onScreen(spec) {
			continue
		}
		write(i, since.selectFor(spec, f.verbose))
		if spec.Format.Name == "github" {
			note("step summary", stepSummary(cmdutil.LookupEnv(s.Env, "GITHUB_STEP_SUMMARY"), record))
		}
	}
	if i := slices.IndexFunc(specs, onScreen); i >= 0 { // last, because it lists the files
		write(i, render.Options{Verbose: f.verbose, Listed: true, Written: written})
	}
	if f.open {
		openReport(s, findHTMLFile(specs))
	}
	for _, m := range msgs {
		fmt.Fprintln(s.Err, "mcptest: "+term.Escape(rec.Redactor().String(m)))
	}
	if len(msgs) > 0 && (code == option.ExitPassed || code == option.ExitGate) {
		code = option.ExitInternal
	}
	if code == option.ExitPassed {
		return nil
	}
	return &option.ExitError{Code: code}
}

// openReport opens a file in the user's browser.
func openReport(s cmdutil.Streams, path string) {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if !option.OpenBrowser(s, (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()) {
		fmt.Fprintln(s.Err, "mcptest: no browser found to open "+term.Escape(path))
	}
}

// liveLogs are the ndjson reports by their index: they are written during the run.
type liveLogs map[int]*liveLog

// liveLog is one ndjson report.
type liveLog struct {
	*result.LogWriter
	sink *report.Sink
	err  error // of opening the file
}

func (l *liveLog) close() error {
	if l.sink == nil {
		return l.err
	}
	return errors.Join(l.Err(), l.sink.Commit())
}

// openLogs opens the ndjson reports and returns their listeners. Errors are reported
// at the end, as for every report.
func openLogs(s cmdutil.Streams, specs []report.Spec) (liveLogs, []result.Listener) {
	logs := liveLogs{}
	var listeners []result.Listener
	for i, spec := range specs {
		if spec.Format.Name != "ndjson" {
			continue
		}
		sink, err := report.OpenLiveSink(spec.Path, s.Out)
		if err != nil {
			logs[i] = &liveLog{err: err}
			continue
		}
		logs[i] = &liveLog{LogWriter: report.NewLog(sink), sink: sink}
		listeners = append(listeners, logs[i])
	}
	return logs, listeners
}

// stepSummary appends the run as Markdown to GitHub's step summary file, if path is
// not empty. The file may have other content.
func stepSummary(path string, r *result.Run) error {
	if path == "" {
		return nil
	}
	md, err := report.Find("md")
	if err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	return errors.Join(md.Write(file, r, render.Options{}), file.Close())
}

func (f *runFlags) addGates(fl *pflag.FlagSet) {
	fl.BoolVar(&f.lastFailed, "last-failed", false, "run the tests that failed in the last run, or all tests if none did")
	fl.StringVar(&f.changed, "changed", "", "run the tests of suites whose files differ from those of a git `commit`, and those of tools whose lock entries differ")
	fl.BoolVar(&f.gates.Flaky, "fail-on-flaky", false, "exit 1 if a test passed only after a retry")
	fl.BoolVar(&f.gates.Warnings, "fail-on-warnings", false, "exit 1 if there is a warning about the suites or of the run")
	fl.StringVar(&f.baseline, "baseline", "", "YAML `file` of known_failures: they are reported as skipped; an entry that no longer fails makes the run fail")
}

// readVerdicts reads the baseline. Mistakes in it are printed and end the command.
func (f *runFlags) readVerdicts(s cmdutil.Streams, p *plan.Plan) (*history.Verdicts, error) {
	f.gates.Part = f.part != nil || f.setupOnly
	if f.baseline == "" {
		return history.NewVerdicts(p, nil, f.gates), nil
	}
	if err := option.RefuseOther("--baseline", f.baseline, filekind.Known); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(f.baseline)
	if err != nil {
		return nil, option.Invalid("--baseline: %s: %s", f.baseline, cmdutil.Reason(err))
	}
	b, diags, err := history.ReadBaseline(f.baseline, data, len(p.Files))
	if err != nil {
		return nil, option.Invalid("--baseline: %v", err)
	}
	errs, warnings := f.Print(s, diags)
	if errs > 0 {
		return nil, option.Invalid("%s in %s; nothing was run", display.Count(errs, "error"), f.baseline)
	}
	f.gates.Loading += warnings
	return history.NewVerdicts(p, b, f.gates), nil
}

// listNamesToRun returns the selection of --last-failed: nil, for every test, if no
// failed test is known.
func (f *runFlags) listNamesToRun(s cmdutil.Streams, suites []*suite.Suite) map[string]bool {
	if !f.lastFailed {
		return nil
	}
	names := history.Failed(suites)
	if names == nil {
		fmt.Fprintln(s.Err, "mcptest: --last-failed: no failed tests are recorded; running all tests")
	}
	return names
}

// saveHistory stores data for the next run. In CI there is no next run, and shards split by
// different durations would not match.
func (f *runFlags) saveHistory(
	s cmdutil.Streams, suites []*suite.Suite, times history.Stopwatch, eras *connect.Eras, hide *secret.Redactor, log *slog.Logger,
) {
	if cmdutil.IsInCI(s.Env) {
		return
	}
	errs := []error{f.verdicts.KeepFailed(suites, hide), history.KeepEras(f.findErasDir(suites), eras)}
	if f.part == nil && !f.setupOnly {
		errs = append(errs, times.Keep(suites, f.verdicts.Complete()))
	}
	if err := errors.Join(errs...); err != nil {
		log.Debug("failed tests, durations or detected protocols were not saved for the next run", "error", err)
	}
}

// findErasDir returns the folder for the detected eras of a run, which is that of the
// first suite; "" if it was not read from a file, or if the run must connect in the
// same way on every machine.
func (f *runFlags) findErasDir(suites []*suite.Suite) string {
	if f.cassettes.Used() || len(suites) == 0 || suites[0].File == nil {
		return ""
	}
	return filepath.Dir(suites[0].File.Path)
}

// newLive returns the listener that shows the progress of the run.
func (f *runFlags) newLive(s cmdutil.Streams, specs []report.Spec) (*pretty.Live, *term.Status) {
	var status *term.Status
	if !f.noProgress && !f.quiet && f.logLevel != "debug" && !cmdutil.IsInCI(s.Env) {
		status = term.NewStatus(s.Err, s.Env)
	}
	o := pretty.LiveOptions{Out: s.Out, Status: status, InOrder: !term.IsTerminal(s.Out), Verbose: f.verbose}
	if profile, err := term.Detect(s.Out, s.Env, f.Color); err == nil {
		o.Palette = term.NewPalette(profile)
	}
	if term.IsTerminal(s.Out) {
		o.Width = term.CountColumns(s.Out, 80)
	}
	o.Quiet = !slices.ContainsFunc(specs, onScreen)
	o.Gather = gather
	return pretty.NewLive(o), status
}

// gather limits the delay of a finished test's line.
const gather = 20 * time.Millisecond

func isBrokenPipe(err error) bool { return syserr.Is(err, syscall.EPIPE) }
