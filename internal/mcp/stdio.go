package mcp

import (
	"context"
	"io"
	"sync/atomic"
	"time"

	"mcptest/internal/proc"
)

// Times around the end of a server process.
const (
	// exitWait is how long a closed standard output waits for the exit status
	// of the process, and a failed write for the end of the stream.
	exitWait = time.Second
	// stuckWait is how long Close waits for the reader after the process was
	// stopped. proc ends standard output shortly after the process, whoever
	// still holds it: only a process that can't be killed makes this wait.
	stuckWait = 2 * proc.WaitDelay
	// stderrLines is how much of standard error a cause of death quotes.
	stderrLines = 20
	// hastyGrace is how long a server that was hastened gets between the end of
	// its input and SIGTERM.
	hastyGrace = 150 * time.Millisecond
)

// StdioOptions are what a stdio transport needs beside the process.
type StdioOptions struct {
	Limits Limits
	Grace  proc.Grace // of Close; zero is proc's default
}

// stdio is a server process with newline-delimited messages on its standard
// input and output.
type stdio struct {
	*stream
	p     *proc.Process
	grace proc.Grace
	hasty atomic.Bool
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
	t := &stdio{stream: newStream(p.Stdout(), p.Stdin(), o.Limits), p: p, grace: o.Grace}
	t.facts = Facts{Kind: "stdio", Command: spec.Argv, Pid: p.Pid(), Stderr: p.Stderr(), Process: p}
	t.why = t.cause
	return t, nil
}

// cause explains the end of the stream: it waits a moment for the exit status.
func (t *stdio) cause(err error) *ClosedError {
	c := &ClosedError{Reason: "the server closed its standard output"}
	if err != io.EOF && !t.isClosing() {
		c.Err = err
	}
	if err == errEndless {
		c.Reason = "the server's output was given up"
		c.Stderr = t.p.Stderr().Ends(stderrLines)
		return c
	}
	wait := time.NewTimer(exitWait)
	defer wait.Stop()
	select {
	case <-t.p.Done():
	case <-wait.C:
	}
	select {
	case <-t.p.Exited():
		c.Reason, c.Exited, c.Exit, c.unread = "the server exited", true, t.p.Exit(), t.p.Unread()
	default:
	}
	c.Stderr = t.p.Stderr().Ends(stderrLines)
	return c
}

// hasten implements [Session.Hasten].
func (t *stdio) hasten() { t.hasty.Store(true) }

// Close stops the process with proc's stop protocol: end of input, a grace,
// SIGTERM to the group, a grace, SIGKILL.
func (t *stdio) Close(ctx context.Context) proc.Stopped {
	t.closeWrite()
	t.hurry()
	grace := t.grace
	if t.hasty.Load() && (grace.Stdin == 0 || grace.Stdin > hastyGrace) {
		grace.Stdin = hastyGrace
	}
	stopped := t.p.Stop(ctx, grace)
	t.awaitEnd(context.WithoutCancel(ctx), stuckWait)
	return stopped
}
