package proc

import (
	"context"
	"time"

	"mcptest/internal/proc/tail"
)

// Result is the outcome of Run.
type Result struct {
	Name string
	Exit Exit
	// Stdout and Stderr are what the program wrote; never nil. With
	// Spec.LogFile both are the same Tail.
	Stdout, Stderr *tail.Tail
	// StartErr is set when the program could not be started: a *StartError.
	StartErr error
	// Cause is set when the context ended before the program did: the
	// context's cause, for example context.DeadlineExceeded.
	Cause error
	// Forced: it did not end by SIGTERM when its time was over.
	Forced    bool
	Leftovers []Leftover
	// Held: what it left running holds its output open, so that the end of it
	// was waited for, for WaitDelay.
	Held     bool
	Duration time.Duration
}

// Err is nil when the program ran and exited with status 0.
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

// ExitError says that a program ended without success.
type ExitError struct {
	Name string
	Exit Exit
}

func (e *ExitError) Error() string { return e.Name + ": " + e.Exit.String() }

// runTerm is what a program gets between SIGTERM and SIGKILL when its time is
// over, so that it can remove its temporary files.
const runTerm = 500 * time.Millisecond

// Run starts a program and waits until it has ended. When ctx is done, its
// whole group gets SIGTERM and half a second later SIGKILL. What the program
// left running in its group when it ended by itself is killed and named in
// Leftovers, unless Spec.KeepChildren says to leave it. PipeStdin and PipeStdout are
// ignored: the pipes would have no reader.
func Run(ctx context.Context, s Spec) Result {
	s.PipeStdin, s.PipeStdout = false, false
	if s.OutputLimit <= 0 {
		s.OutputLimit = DefaultRunLimit
	}
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
		<-p.Done() // its output is read on until the group ends
		r.Held = !p.out.Over() || !p.err.Over()
	} else {
		st := p.Stop(context.WithoutCancel(ctx), Grace{Term: runTerm})
		r.Leftovers, r.Forced = st.Leftovers, st.Forced
	}
	r.Exit, r.Duration = p.Exit(), time.Since(began)
	return r
}
