package proc

import (
	"cmp"
	"context"
	"time"

	"mcptest/internal/process/tail"
)

// Result is the outcome of Run.
type Result struct {
	Name string
	Exit Exit
	// Stdout and Stderr are the program's output; never nil. With Spec.LogFile both
	// are the same Tail.
	Stdout, Stderr *tail.Tail
	// StartErr is set if the program could not be started: a *StartError.
	StartErr error
	// Cause is set if the context ended before the program did: the context's cause,
	// for example context.DeadlineExceeded.
	Cause error
	// Forced is set if SIGTERM did not end it.
	Forced    bool
	Leftovers []Leftover
	// Held is set if a process that it left running holds its output open, so that
	// Run waited for WaitDelay.
	Held     bool
	Duration time.Duration
}

// Err returns nil if the program ran and exited with status 0.
func (r Result) Err() error {
	switch {
	case r.StartErr != nil:
		return r.StartErr
	case r.Cause != nil:
		return r.Cause
	case !r.Exit.Success():
		return &ExitError{Name: r.Name, Exit: r.Exit}
	}
	return nil
}

// ExitError reports a signal or an exit status other than 0.
type ExitError struct {
	Name string
	Exit Exit
}

func (e *ExitError) Error() string { return e.Name + ": " + e.Exit.String() }

// runTerm is the time between SIGTERM and SIGKILL after a timeout, for removing
// temporary files.
const runTerm = 500 * time.Millisecond

// Run starts a program and waits until it has exited. If ctx is done, its whole group
// gets SIGTERM and half a second later SIGKILL. Processes that remain in the group
// after the program exited are killed and listed in Leftovers, unless
// Spec.KeepChildren is set. PipeStdin and PipeStdout are ignored: the pipes would
// have no reader.
func Run(ctx context.Context, s Spec) Result {
	s.PipeStdin, s.PipeStdout = false, false
	s.OutputLimit = cmp.Or(max(s.OutputLimit, 0), DefaultRunLimit)
	began := time.Now()
	r := Result{Name: s.Name, Exit: Exit{Code: -1}, Stdout: tail.New(1), Stderr: tail.New(1)}
	if ctx.Err() != nil {
		r.Cause = context.Cause(ctx)
		return r
	}
	p, err := Start(context.WithoutCancel(ctx), s)
	if err != nil {
		r.StartErr = err
		return r
	}
	r.Name, r.Stdout, r.Stderr = p.Name(), p.Output(), p.Stderr()
	select {
	case <-p.Exited():
	case <-ctx.Done():
		r.Cause = context.Cause(ctx)
	}
	if r.Cause == nil && s.KeepChildren && p.group.alive() && len(p.group.members()) > 0 {
		<-p.Done() // its output is read until the group ends
		r.Held = !p.out.Over() || !p.err.Over()
	} else {
		st := p.Stop(context.WithoutCancel(ctx), Grace{Term: runTerm})
		r.Leftovers, r.Forced = st.Leftovers, st.Forced
	}
	r.Exit, r.Duration = p.Exit(), time.Since(began)
	return r
}
