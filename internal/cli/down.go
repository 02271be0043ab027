package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/spf13/cobra"

	"mcptest/internal/base/display"
	"mcptest/internal/base/lists"
	"mcptest/internal/base/secret"
	"mcptest/internal/base/term"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
	"mcptest/internal/process/proc"
	"mcptest/internal/report/result"
	"mcptest/internal/run"
	"mcptest/internal/run/detach"
	"mcptest/internal/spec/plan"
)

// stateFile is the path of the state of an environment in messages.
const stateFile = detach.Dir + "/state.json"

type downFlags struct {
	option.SuiteFlags
	noTeardown bool
	logLevel   string
}

func newDownCmd(s cmdutil.Streams) *cobra.Command {
	var f downFlags
	cmd := &cobra.Command{
		Use:   "down",
		Short: "Stop what `mcptest run --setup-only` left running",
		Long: `Stop the environment that mcptest run --setup-only started in this directory: run
teardown and afterAll of its suites in reverse order, then stop every remaining
process (SIGTERM, two seconds, SIGKILL). A process id that has been reused by
another process is left alone. If nothing is running, the exit code is 0.

On Linux this includes processes that its programs have started since, even
outside of their process groups. Environment variables that the suites read keep
the values they had during mcptest run --setup-only.

Exit codes: 0 nothing is left running, 1 a process could not be stopped (it is
named), 2 the suites can no longer be read (their processes are stopped, and
teardown can be tried again), the state file can't be read (its processes are
stopped), or another mcptest is using this environment.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), s) },
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.noTeardown, "no-teardown", false, "stop the processes only; run neither teardown nor afterAll")
	fl.StringVar(&f.logLevel, "log-level", "warn", "log verbosity on stderr: error, warn, info or debug (output of every hook and step)")
	fl.StringVar(&f.Color, "color", "auto", "colors: auto, always or never")
	return cmd
}

func (f *downFlags) run(ctx context.Context, s cmdutil.Streams) error {
	st, err := detach.Open()
	if errors.Is(err, detach.ErrNothing) {
		fmt.Fprintf(s.Err, "mcptest: nothing is running here (looked for %s)\n", stateFile)
		return nil
	}
	if err != nil {
		return option.Invalid("%v", err)
	}
	defer st.Release()
	s.Env = st.Environ(s.Env)
	redactor := secret.NewRedactor()
	log, closeLog, err := option.OpenLog(s.Err, f.logLevel, redactor)
	if err != nil {
		return err
	}
	defer closeLog()
	world := cmdutil.NewWorld(s, log)
	defer world.Close()
	ctx, stop := cmdutil.WatchSignals(ctx, s.Err, world.Kill)
	defer stop()
	code, open := option.ExitPassed, 0
	if !f.noTeardown && st.Damage == nil {
		err := option.Guarded(world, s.Err, func() (err error) {
			code, open, err = f.runTeardown(ctx, s, st, world, log, redactor)
			return err
		})
		if err != nil {
			kill(s, st)
			return err
		}
	}
	if err := f.stop(s, st, code, open); err != nil || st.Damage == nil || f.noTeardown {
		return err
	}
	return option.Invalid("%s can't be used (%v): its processes were stopped; teardown and afterAll were not run", stateFile, st.Damage)
}

// runTeardown runs teardown and afterAll; open is the number of hooks and steps that did
// not pass.
func (f *downFlags) runTeardown(
	ctx context.Context, s cmdutil.Streams, st *detach.State, w *cmdutil.World, log *slog.Logger, redactor *secret.Redactor,
) (code, open int, err error) {
	p, err := f.plan(s, st, redactor)
	if err != nil {
		return 0, 0, err
	}
	tokens, _ := option.TokenPath("", s) // only servers that need a login fail without it
	rec := result.NewRecorder(result.RecorderOptions{Redactor: redactor, Listeners: []result.Listener{phaseLines{s, &open}}})
	defer rec.Close()
	tool := result.Tool{Name: "mcptest", Version: cmdutil.Version()}
	code = run.Run(ctx, p, run.Options{Tool: tool, Phase: run.TeardownOnly, Saved: st.Files, Tokens: tokens}, run.Deps{
		Send: rec.Send, Secret: redactor.Add, Log: log, Registry: w.Registry, KillOrphans: w.Sweep,
	})
	return code, open, nil
}

// stop stops the processes and, if none is left, removes the state. A signal may have
// interrupted teardown.
func (f *downFlags) stop(s cmdutil.Streams, st *detach.State, code, open int) error {
	alive := kill(s, st)
	signalled := code != option.ExitPassed && code != option.ExitFailed
	switch {
	case alive > 0:
		fmt.Fprintf(s.Err, "mcptest: %s could not be stopped and stays listed in the state file: stop it and run mcptest down --no-teardown\n", display.Count(alive, "process"))
	case signalled && open > 0:
		fmt.Fprintln(s.Err, "mcptest: teardown did not complete: run mcptest down again, or mcptest down --no-teardown to skip it")
	default:
		if err := st.Remove(); err != nil {
			return option.Fail(option.ExitInternal, "remove the state file: %v", err)
		}
	}
	if signalled {
		return &option.ExitError{Code: code}
	}
	if alive > 0 {
		return &option.ExitError{Code: option.ExitFailed}
	}
	return nil
}

// plan reads the suites again, like setup.
func (f *downFlags) plan(s cmdutil.Streams, st *detach.State, redactor *secret.Redactor) (*plan.Plan, error) {
	f.EnvFiles, f.Vars, f.AllowOutside = st.EnvFiles, st.Vars, st.AllowOutside
	paths := lists.Map(st.Files, func(k run.SavedState) string { return option.Shown(k.File) })
	p, diags, err := f.Compile(paths, s, redactor)
	if err != nil {
		return nil, err
	}
	if errs, _ := f.Print(s, diags); errs > 0 || len(p.Files) < len(paths) {
		return nil, option.Invalid("teardown was not run: the suites have changed; fix them and try again, or skip it: mcptest down --no-teardown")
	}
	return p, nil
}

// kill stops the processes of an environment, prints their names, and returns the
// number of processes that are still alive.
func kill(s cmdutil.Streams, st *detach.State) (alive int) {
	ctx, cancel := option.CleanupContext()
	defer cancel()
	for _, e := range st.Kill(ctx, proc.Grace{}) {
		for _, m := range e.Members {
			if slices.ContainsFunc(e.Alive, func(a proc.Leftover) bool { return a.Pid == m.Pid }) {
				continue
			}
			fmt.Fprintf(s.Out, "ended pid %d %s (%s)\n", m.Pid, term.Escape(m.Command), e.How)
		}
		for _, m := range e.Alive {
			fmt.Fprintf(s.Err, "mcptest: pid %d %s is still alive\n", m.Pid, term.Escape(m.Command))
		}
		alive += len(e.Alive)
	}
	return alive
}

// phaseLines prints the phases of `mcptest down` as they end.
type phaseLines struct {
	s    cmdutil.Streams
	open *int // counts the phases that did not pass
}

// Event prints one line for a phase or a finding.
func (p phaseLines) Event(e result.Event, _ *result.Run) {
	switch e := e.(type) {
	case result.PhaseFinished:
		ph := e.Phase
		if ph.Status != result.Pass {
			*p.open++
		}
		line := fmt.Sprintf("%s %s: %s", ph.Status, ph.Phase, ph.Name)
		if ph.Message != "" {
			line += ": " + ph.Message
		}
		fmt.Fprintln(p.s.Out, term.Escape(line))
		if ph.Output != "" {
			fmt.Fprintln(p.s.Out, term.EscapeLines(ph.Output))
		}
	case result.FindingSeen:
		if e.Finding.Kind != "teardown" { // its phase was printed already
			fmt.Fprintln(p.s.Err, "mcptest: "+term.Escape(e.Finding.Message))
		}
	}
}

// leaveRunning configures a run with --setup-only, so that its processes keep running
// until `mcptest down`.
func leaveRunning(up *detach.State, world *cmdutil.World, opts *run.Options, deps *run.Deps) {
	opts.Phase, opts.LogDir = run.SetupOnly, up.Folder
	dropDir := world.KeepDir(up.Folder)
	deps.Detach = func(files []run.SavedState) error {
		if err := up.Detach(files, world.Registry.Snapshot()); err != nil {
			return err
		}
		dropDir() // now the state file has the processes
		world.Registry.Release()
		return nil
	}
}

// finishSetup lists the processes that were left running, or removes the state if
// there are none.
func finishSetup(s cmdutil.Streams, up *detach.State) {
	defer up.Release()
	if !up.Detached {
		_ = up.Remove()
		return
	}
	fmt.Fprintf(s.Err, "mcptest: up: %s left running; stop it with mcptest down\n", display.Count(len(up.Groups), "process group"))
	for _, g := range up.Groups {
		fmt.Fprintf(s.Err, "  pid %d %s\n", g.Pid, term.Escape(g.Name))
	}
}
