package probe

import (
	"context"
	"errors"
	"net"
	"time"

	"mcptest/internal/process/proc"
	"mcptest/internal/process/tail"
)

// Watch configures a wait.
type Watch struct {
	// Process ends the wait when it exits; may be nil.
	Process *proc.Process
	// Owned makes a response of a program other than Process an error, if that can be
	// determined.
	Owned bool
	// Logs are the logs of a log probe; nil means the output of Process.
	Logs []*tail.Tail
}

func (w Watch) logs() []*tail.Tail {
	if w.Logs != nil || w.Process == nil {
		return w.Logs
	}
	return w.Process.Logs()
}

func (w Watch) processEnd() <-chan struct{} {
	if w.Process == nil {
		return nil
	}
	return w.Process.Done()
}

const (
	firstPause = 10 * time.Millisecond
	lastPause  = 500 * time.Millisecond
)

// Wait checks repeatedly, with pauses that grow from 10 ms to 500 ms, until the probe
// is ready (nil), ctx is done (*NotReadyError), the process of w has exited
// (*DiedError), the output that a log probe reads has ended (*NoMatchError), or
// another program responds (*ForeignError).
func (p Probe) Wait(ctx context.Context, w Watch) error {
	if p.kind == Log {
		return p.waitLog(ctx, w)
	}
	if p.kind == 0 || p.kind == Path {
		return errNoOrigin
	}
	began := time.Now()
	alive, cancel := context.WithCancel(ctx)
	defer cancel()
	if w.Process != nil {
		go func() { // a check that hangs ends with the process
			select {
			case <-w.processEnd():
				cancel()
			case <-alive.Done():
			}
		}()
	}
	var last error
	for pause := firstPause; ; pause = min(pause*3/2, lastPause) {
		addr, err := p.ask(alive)
		if err == nil {
			if owner := w.foreign(addr); owner != "" {
				return &ForeignError{p.raw, owner}
			}
			return nil
		}
		interrupted := ctx.Err() != nil
		if !interrupted || last == nil || saysMore(err, last) {
			last = err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-w.processEnd():
			timer.Stop()
			return w.dead(p)
		case <-ctx.Done():
			timer.Stop()
			return &NotReadyError{Probe: p.raw, Waited: time.Since(began), Last: last, Cause: context.Cause(ctx)}
		}
	}
}

// saysMore reports whether the error of an interrupted check says more than the previous one.
// Silence says nothing, and a port that was silent once less than the response before.
func saysMore(err, previous error) bool {
	if errors.Is(err, errMute) {
		return !errors.As(previous, new(*responseError))
	}
	return !errors.Is(err, errSilent)
}

// foreign returns the name of the program that listens at an address if it does not
// belong to the process; otherwise "".
func (w Watch) foreign(addr net.Addr) string {
	tcp, ok := addr.(*net.TCPAddr)
	if !w.Owned || w.Process == nil || !ok {
		return ""
	}
	return proc.ForeignListener(w.Process, tcp)
}

// dead returns the error for a process that has exited.
func (w Watch) dead(p Probe) error {
	e := &DiedError{Name: w.Process.Name(), Probe: p.raw, Exit: w.Process.Exit()}
	for _, t := range w.logs() {
		e.Lines = append(e.Lines, t.Ends(20)...)
	}
	e.Lines = e.Lines[max(0, len(e.Lines)-20):]
	return e
}

// endError returns the error for output that has ended, because the program has exited
// or has closed it.
func (w Watch) endError(ctx context.Context, p Probe) error {
	if w.Process == nil {
		return &NoMatchError{Probe: p.raw}
	}
	ctx, cancel := context.WithTimeout(ctx, proc.WaitDelay)
	defer cancel()
	select {
	case <-w.processEnd():
	case <-ctx.Done():
	}
	select {
	case <-w.processEnd():
		return w.dead(p)
	default:
	}
	return &NoMatchError{Probe: p.raw}
}

// waitLog waits for a line. It checks complete lines as they arrive, and an
// incomplete one at the next check.
func (p Probe) waitLog(ctx context.Context, w Watch) error {
	logs := w.logs()
	if len(logs) == 0 {
		return errNoLog
	}
	began := time.Now()
	f := tail.WatchLines(p.re, logs)
	defer f.Close()
	for pause := firstPause; ; pause = min(pause*3/2, lastPause) {
		over := f.Over() // read before the check, so that later output is noticed
		if f.Ready() {
			return nil
		}
		if over {
			return w.endError(ctx, p)
		}
		timer := time.NewTimer(pause)
		select {
		case <-f.Found():
		case <-timer.C:
		case <-w.processEnd():
			timer.Stop()
			if f.Ready() {
				return nil
			}
			return w.dead(p)
		case <-ctx.Done():
			timer.Stop()
			if f.Ready() {
				return nil
			}
			return &NotReadyError{Probe: p.raw, Waited: time.Since(began), Cause: context.Cause(ctx)}
		}
	}
}
