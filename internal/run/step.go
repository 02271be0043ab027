package run

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"mcptest/internal/mcp"
	"mcptest/internal/plan"
	"mcptest/internal/proc"
	"mcptest/internal/result"
	"mcptest/internal/source"
)

// phase begins the record of a hook or step.
func (r *runner) phase(phase, name, kind string, pos source.Pos) result.Phase {
	p := result.Phase{Phase: phase, Name: name, Kind: kind, StartMS: r.since(r.start), Line: pos.Line}
	if pos.File != nil {
		p.File = pos.File.Name
		p.Source = strings.TrimRight(pos.File.Line(pos.Line), "\r\n")
	}
	return p
}

// setup runs the file's setup steps. A failure refuses every case.
func (f *fileRun) setup(ctx context.Context) {
	defer f.freshAfterSetup()
	for _, s := range f.file.Setup {
		if ctx.Err() != nil {
			f.refuse(result.Skip, interruptedReason)
			return
		}
		ph, msg := f.step(ctx, s, &f.background, nil)
		f.w.Send(result.PhaseFinished{Phase: ph})
		switch {
		case ph.Status == result.Skip:
			f.refuse(result.Skip, interruptedReason)
			return
		case msg != "":
			f.setupFailed.Store(true)
			f.broken = "setup failed: " + msg
			f.refuse(result.Skip, f.broken)
			return
		}
	}
}

// freshAfterSetup ends the sessions that setup called when each test wants
// one of its own.
func (f *fileRun) freshAfterSetup() {
	if f.file.Options.RestartPolicy != plan.PerTest {
		return
	}
	var used []*entry
	for _, s := range f.file.Setup {
		if s.Call != nil && s.Call.Server != nil {
			used = append(used, f.stepEntry(s, nil))
		}
	}
	f.pool.recycle(f.clean.ctx, used)
}

// teardown runs the teardown steps. A failing step is a warning, after which
// only steps with `always: true` are run. A step with `always: false` keeps
// the state for a look when something failed.
func (f *fileRun) teardown() {
	stepFailed := false
	for _, s := range f.file.Teardown {
		always := s.Always != nil && *s.Always
		left, limited := f.clean.left()
		ph := f.phase(s.Phase, s.Name, stepKind(s), s.Pos)
		switch {
		case s.Always != nil && !always && (f.bad() || stepFailed):
			ph.Status, ph.Message = result.Skip, "always: false keeps the state after a failure"
		case stepFailed && !always:
			ph.Status, ph.Message = result.Skip, "an earlier teardown step failed"
		case limited && left < shortTime && !always, limited && left <= 0:
			ph.Status, ph.Message = result.Skip, fmt.Sprintf("%v after %s are left for clean-up", max(0, left).Round(100*time.Millisecond), signalOf(f.clean.run))
		default:
			var msg string
			if ph, msg = f.step(f.clean.ctx, s, &f.background, nil); msg != "" {
				stepFailed = true
				f.finding(result.Finding{
					Kind: "teardown", Severity: "warning", File: fileName(s.Pos), Line: s.Pos.Line,
					Message: fmt.Sprintf("teardown step %q failed: %s", s.Name, msg),
				})
			}
		}
		f.w.Send(result.PhaseFinished{Phase: ph})
	}
}

func stepKind(s *plan.Step) string {
	switch {
	case s.Call != nil:
		return "call"
	case s.Background:
		return "background"
	}
	return "command"
}

// step runs one fixture step, of a's bracket when it is not nil. The message
// says why it failed. The phase is a skip when the run was ended meanwhile.
func (f *fileRun) step(ctx context.Context, s *plan.Step, bg *background, a *attempt) (result.Phase, string) {
	ph := f.phase(s.Phase, s.Name, stepKind(s), s.Pos)
	if s.Call != nil {
		f.protect(func() { f.readyForStep(ctx, s, a) })
	}
	began := time.Now()
	var cancel context.CancelFunc
	after := s.Phase == "teardown"
	if after {
		ctx, cancel = f.clean.limit("timeout", s.Timeout)
	} else {
		ctx, cancel = mcp.WithLimit(ctx, "timeout", s.Timeout)
	}
	defer cancel()
	var output string
	var err error
	if fault := f.protect(func() { output, err = f.stepProgram(ctx, s, bg, a, &ph) }); fault != "" {
		err = errors.New(fault)
	}
	ph.DurationMS = f.since(began)
	ph.Status = result.Pass
	switch {
	case err == nil:
		return ph, ""
	case !after && givenUp(ctx):
		ph.Status, ph.Message = result.Skip, context.Cause(ctx).Error()
	case s.CaptureFailure != "":
		// The author's words stand in place of the program's.
		ph.Status, ph.Message = result.Fail, s.CaptureFailure
		f.log.Debug(err.Error(), "phase", ph.Phase, "name", ph.Name)
	default:
		ph.Status, ph.Message, ph.Output = result.Fail, err.Error(), output
		return ph, fmt.Sprintf("%s: %v", s.Name, err)
	}
	return ph, ph.Message
}

// stepProgram does what the step says and returns the end of its output when
// it failed.
func (f *fileRun) stepProgram(ctx context.Context, s *plan.Step, bg *background, a *attempt, ph *result.Phase) (string, error) {
	switch {
	case s.Call != nil:
		if err := f.callStep(ctx, s, a, ph); err != nil {
			return "", err
		}
		return "", f.waitFor(ctx, s, proc.Watch{})
	case s.Background:
		return f.backgroundStep(ctx, s, bg)
	}
	r := f.exec(ctx, f.stepSpec(s), ph)
	f.logProgram(ph, r)
	if err := programError(r); err != nil {
		return tailOf(r), err
	}
	if err := f.waitFor(ctx, s, proc.Watch{Logs: []*proc.Tail{r.Stdout, r.Stderr}}); err != nil {
		return tailOf(r), err
	}
	return "", nil
}

func (f *fileRun) stepSpec(s *plan.Step) proc.Spec {
	env := withEnv(withEnv(f.file.HookEnv, s.Env), f.patch.environ())
	return proc.Spec{Name: fmt.Sprintf("%s step %q", s.Phase, s.Name), Argv: s.Argv, Dir: s.Dir, Env: env, Keeper: f.w.Keeper, Linger: true}
}

// backgroundStep starts a program and waits until its probe is ready.
func (f *fileRun) backgroundStep(ctx context.Context, s *plan.Step, bg *background) (string, error) {
	probe, err := f.probe(s)
	if err != nil {
		return "", err
	}
	// A bare path stands for the server under test, which may be up already.
	own := probe.Absolute() && !strings.HasPrefix(s.WaitFor, "/")
	if own && probe.Check(ctx) == nil {
		err := fmt.Errorf("%s answers already, before the step was started: something else owns the port", s.WaitFor)
		if f.w.UpHere {
			err = fmt.Errorf("%w; a world that --setup-only left running is up in this folder, mcptest down ends it", err)
		}
		return "", err
	}
	spec := f.stepSpec(s)
	if f.w.LogDir != "" {
		spec.LogFile = filepath.Join(f.w.LogDir, fmt.Sprintf("step-%d-%d.log", f.index+1, len(bg.steps)+1))
	}
	p, err := proc.Start(context.WithoutCancel(ctx), spec)
	if err != nil {
		return "", err
	}
	bg.steps = append(bg.steps, bgStep{step: s, p: p})
	f.log.Debug("background step started", "phase", s.Phase, "name", s.Name, "pid", p.Pid())
	if s.WaitFor == "" {
		return "", nil
	}
	err = probe.Wait(ctx, proc.Watch{Process: p, Owned: own})
	select {
	case <-p.Exited():
		// Ready or not: a step that has ended serves no test.
		<-p.Done()
		if err == nil {
			err = fmt.Errorf("it ended as soon as %s was ready: %s", s.WaitFor, p.Exit())
		} else {
			err = fmt.Errorf("it ended before %s was ready: %s", s.WaitFor, p.Exit())
		}
		if p.Exit().Success() {
			err = fmt.Errorf("%w; a program that starts a service and returns is no background step: leave out background: true", err)
		}
	default:
	}
	if err != nil {
		bg.steps[len(bg.steps)-1].failed = true
		return strings.Join(lastOutput(p), "\n"), notReady(err, s)
	}
	return "", nil
}

func notReady(err error, s *plan.Step) error {
	var nr *proc.NotReadyError
	if !errors.As(err, &nr) {
		return err
	}
	msg := fmt.Sprintf("%s was not ready after %v (limit: timeout %v)", s.WaitFor, round(nr.Waited), s.Timeout)
	if nr.Last != nil {
		msg += ": " + nr.Last.Error()
	}
	return errors.New(msg)
}

// probe is the step's probe; a bare path is put onto the default server.
func (f *fileRun) probe(s *plan.Step) (proc.Probe, error) {
	if s.WaitFor == "" {
		return proc.Probe{}, nil
	}
	p, err := proc.ParseProbe(s.WaitFor)
	if err != nil {
		return p, err
	}
	if d := f.file.Default; p.Kind() == proc.ProbePath && d != nil && d.URL != "" {
		trust, err := TLSConfig(d)
		if err != nil {
			return p, err
		}
		header := http.Header{}
		for _, kv := range d.Headers {
			header.Add(kv.Name, kv.Value)
		}
		p, err = p.At(d.URL)
		return p.With(trust, header), err
	}
	return p, nil
}

// waitFor waits for the probe of a step that is over.
func (f *fileRun) waitFor(ctx context.Context, s *plan.Step, w proc.Watch) error {
	if s.WaitFor == "" {
		return nil
	}
	p, err := f.probe(s)
	if err != nil {
		return err
	}
	if err := p.Wait(ctx, w); err != nil {
		return notReady(err, s)
	}
	return nil
}
