package cli

import (
	"context"
	"log/slog"
	"strings"

	"mcptest/internal/base/secret"
	"mcptest/internal/base/shellwords"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
	"mcptest/internal/report"
	"mcptest/internal/report/result"
	"mcptest/internal/run"
	"mcptest/internal/run/detach"
	"mcptest/internal/run/history"
	"mcptest/internal/run/watch"
	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
)

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
	tapes, notes, err := f.cassettes.Open(s, p, redactor, f.listSelectionNotes(p))
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

	live, status := f.newLive(s, specs)
	logs, listeners := openLogs(s, specs)
	times := history.Stopwatch{}
	listeners = append(listeners, live, times, f.verdicts)
	rec := result.NewRecorder(result.RecorderOptions{Redactor: redactor, Listeners: listeners})
	defer rec.Close()
	opts := f.runOptions(s, p)
	opts.Notes = append(f.shuffle.describe(), notes...)
	opts.Live = status.Live() || f.stopAtEOF // a program follows the run
	deps := f.runDeps(h.world, rec, redactor, log)
	deps.Eras = history.LoadEras(f.findErasDir(suites))
	f.traffic.Connect(&deps, p, s.Self, len(f.listSelectionNotes(p)) == 0)
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
		Dir:             option.FindRepositoryDir(s.Env),
		Limits:          f.limits.Wire(),
		Tokens:          f.tokenFile,
		LeftUp:          detach.Running(),
		Snapshots:       option.Snapshots(s.Env, f.updateSnapshots, f.cassettes.Damage),
		NoDiagnosis:     f.noDiagnosis || f.cassettes.Record != "", // a recording has what the tests did
		Coverage:        f.coverage,
		CoveragePartial: strings.Join(f.listSelectionNotes(p), ""),
		Origin:          option.FindOrigin(s.Env),
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
