package wire

import (
	"context"
	"io"
	"sync/atomic"
	"time"

	"mcptest/internal/process/proc"
)

// Time limits for the exit of a server process.
const (
	// ExitWait limits the wait for the exit status after standard output was closed,
	// and for the end of the stream after a failed write.
	ExitWait = time.Second
	// killWait limits how long Close waits for the reader after the process was
	// stopped. proc closes standard output shortly after the exit, even if other
	// processes hold it, so this only takes time for a process that cannot be killed.
	killWait = 2 * proc.WaitDelay
	// StderrLines is the number of lines of standard error in an error.
	StderrLines = 20
	// shortGrace is, after SkipGrace, the time between closing a server's input and
	// SIGTERM.
	shortGrace = 150 * time.Millisecond
)

// StdioOptions are the parameters of a stdio transport in addition to the process.
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
	input     *input
}

// input closes the standard input of a process. It knows whether the process still ran
// when it was closed: one that ends at once has not ended by itself.
type input struct {
	p   *proc.Process
	ran atomic.Bool
}

func (i *input) Close() error {
	select {
	case <-i.p.Exited():
	default:
		i.ran.Store(true)
	}
	return i.p.Stdin().Close()
}

// NewStdio starts a server process and returns the transport over its standard input
// and output. proc keeps its standard error, which is never an error. The error is an
// [*OpenError] of phase "start".
func NewStdio(ctx context.Context, spec proc.Spec, o StdioOptions) (Transport, error) {
	spec.Stdin, spec.PipeStdin, spec.PipeStdout = nil, true, true
	p, err := proc.Start(ctx, spec)
	if err != nil {
		return nil, &OpenError{Phase: "start", Cause: err}
	}
	t := &Stdio{
		stream: newStream(p.Stdout(), p.Stdin(), o.Limits),
		p:      p,
		grace:  o.Grace,
		input:  &input{p: p},
	}
	t.wc = t.input
	t.facts = Facts{Kind: "stdio", Pid: p.Pid(), Stderr: p.Stderr(), Process: p}
	t.why = t.findCause
	return t, nil
}

// findCause explains the end of the stream; it waits briefly for the exit status.
func (t *Stdio) findCause(err error) *ClosedError {
	c := &ClosedError{Reason: "the server closed its standard output", Log: t.p.Stderr()}
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

// Close stops the process like proc: it closes the input, waits, sends SIGTERM to the
// group, waits, sends SIGKILL.
func (t *Stdio) Close(ctx context.Context) proc.Stopped {
	t.closeWrite()
	t.hurry()
	grace := t.grace
	if t.skipGrace.Load() && (grace.Stdin == 0 || grace.Stdin > shortGrace) {
		grace.Stdin = shortGrace
	}
	stopped := t.p.Stop(ctx, grace)
	if stopped.How == proc.ByItself && t.input.ran.Load() {
		stopped.How = proc.ByEOF
	}
	t.awaitEnd(context.WithoutCancel(ctx), killWait)
	return stopped
}
