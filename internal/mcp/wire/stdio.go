package wire

import (
	"context"
	"io"
	"sync/atomic"
	"time"

	"mcptest/internal/proc"
)

// Times around the end of a server process.
const (
	// ExitWait is how long a closed standard output waits for the exit status
	// of the process, and a failed write for the end of the stream.
	ExitWait = time.Second
	// killWait is how long Close waits for the reader after the process was
	// stopped. proc ends standard output shortly after the process, whoever
	// still holds it: only a process that can't be killed makes this wait.
	killWait = 2 * proc.WaitDelay
	// StderrLines is how much of standard error a cause of death quotes.
	StderrLines = 20
	// shortGrace is how long a server gets, after SkipGrace, between the end of
	// its input and SIGTERM.
	shortGrace = 150 * time.Millisecond
)

// StdioOptions are what a stdio transport needs besides the process.
type StdioOptions struct {
	Limits Limits
	Grace  proc.Grace // of Close; zero is proc's default
}

// Stdio is a server process with newline-delimited messages on its standard
// input and output.
type Stdio struct {
	*stream
	p         *proc.Process
	grace     proc.Grace
	skipGrace atomic.Bool
}

// NewStdio starts a server process and returns the transport over its standard
// input and output. Its standard error is kept by proc and never a failure.
// The error is an [*OpenError] of phase "start".
func NewStdio(ctx context.Context, spec proc.Spec, o StdioOptions) (Transport, error) {
	spec.Stdin, spec.PipeStdin, spec.PipeStdout = nil, true, true
	p, err := proc.Start(ctx, spec)
	if err != nil {
		return nil, &OpenError{Phase: "start", Cause: err}
	}
	t := &Stdio{stream: newStream(p.Stdout(), p.Stdin(), o.Limits), p: p, grace: o.Grace}
	t.facts = Facts{Kind: "stdio", Command: spec.Argv, Pid: p.Pid(), Stderr: p.Stderr(), Process: p}
	t.why = t.cause
	return t, nil
}

// cause explains the end of the stream: it waits a moment for the exit status.
func (t *Stdio) cause(err error) *ClosedError {
	c := &ClosedError{Reason: "the server closed its standard output"}
	if err != io.EOF && !t.isClosing() {
		c.Err = err
	}
	if err == errEndless {
		c.Reason = "the server's output was given up"
		c.Stderr = t.p.Stderr().Ends(StderrLines)
		return c
	}
	wait := time.NewTimer(ExitWait)
	defer wait.Stop()
	select {
	case <-t.p.Done():
	case <-wait.C:
	}
	select {
	case <-t.p.Exited():
		c.Reason, c.Exited, c.Exit, c.Unread = "the server exited", true, t.p.Exit(), t.p.Unread()
	default:
	}
	c.Stderr = t.p.Stderr().Ends(StderrLines)
	return c
}

// SkipGrace implements [mcp.Session.SkipGrace].
func (t *Stdio) SkipGrace() { t.skipGrace.Store(true) }

// Close stops the process with proc's stop protocol: end of input, a grace,
// SIGTERM to the group, a grace, SIGKILL.
func (t *Stdio) Close(ctx context.Context) proc.Stopped {
	t.closeWrite()
	t.hurry()
	grace := t.grace
	if t.skipGrace.Load() && (grace.Stdin == 0 || grace.Stdin > shortGrace) {
		grace.Stdin = shortGrace
	}
	stopped := t.p.Stop(ctx, grace)
	t.awaitEnd(context.WithoutCancel(ctx), killWait)
	return stopped
}
