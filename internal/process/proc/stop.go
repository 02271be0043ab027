package proc

import (
	"context"
	"errors"
	"time"
)

// killTime limits the wait for processes after SIGKILL: one that hangs in the
// kernel must not block the runner.
const killTime = 5 * time.Second

// Stop ends the process and its group: it closes standard input, waits, sends SIGTERM
// to the group, waits, sends SIGKILL to the group, reaps it, and sends SIGKILL to the
// rest of the group. Each wait ends when the process exits. If ctx is done, the
// remaining waits are skipped. A second call returns the result of the first.
func (p *Process) Stop(ctx context.Context, g Grace) Stopped {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped != nil {
		return *p.stopped
	}
	if p.released {
		return Stopped{Name: p.Name(), Pid: p.Pid(), Exit: p.Exit()}
	}
	close(p.stopping)
	start := time.Now()
	st := Stopped{Name: p.Name(), Pid: p.Pid()}
	g = g.withDefaults()
	st.How = p.end(ctx, g)
	st.Forced = st.How == ByKill
	st.Leftovers = p.sweep(g.Rest)
	p.finish()
	st.Exit, st.Took = p.Exit(), time.Since(start)
	p.stopped = &st
	return st
}

// end performs the steps of a stop until the process has exited.
func (p *Process) end(ctx context.Context, g Grace) How {
	select {
	case <-p.exited:
		return ByItself
	default:
	}
	if p.spec.PipeStdin {
		p.stdin.Close()
		if waitFor(ctx, p.exited, g.Stdin) {
			return ByEOF
		}
	}
	if g.Term > 0 {
		p.group.term()
		if waitFor(ctx, p.exited, g.Term) {
			return ByTerm
		}
	}
	p.group.kill()
	waitFor(context.WithoutCancel(ctx), p.exited, killTime)
	return ByKill
}

// waitFor waits at most d for ch and reports whether it was closed.
func waitFor(ctx context.Context, ch <-chan struct{}, d time.Duration) bool {
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-ch:
			return true
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

// sweep ends what the process left running after it has exited, and returns the processes
// that did not exit by themselves.
func (p *Process) sweep(rest time.Duration) []Leftover {
	left := p.sweepGroup(rest)
	if p.spec.Strays {
		left = append(left, p.sweepStrays(rest)...)
	}
	return left
}

// quietLooks is how often no stray must be found, one look after the other: the system lists
// the children of a process without a lock, and may leave out one while others end.
const quietLooks = 4

// sweepStrays ends processes that left the group, such as one that was forked twice.
func (p *Process) sweepStrays(rest time.Duration) (left []Leftover) {
	registry := p.spec.Registry
	quiet := 0
	noneLeft := func() bool {
		marked, unsure := registry.straysOf(p.mark)
		quiet++
		if len(marked) > 0 || unsure {
			quiet = 0
		}
		return quiet == quietLooks
	}
	if backoff(rest, noneLeft) {
		return nil
	}
	marked, _ := registry.straysOf(p.mark)
	for _, ref := range marked {
		left = append(left, Leftover{Pid: ref.Pid, Command: ref.Name, Of: p.Name()})
		killGroup(ref)
		killOne(procInfo{Pid: ref.Pid, Start: ref.Start})
	}
	backoff(time.Second, func() bool {
		marked, _ := registry.straysOf(p.mark)
		return len(marked) == 0
	})
	return left
}

// sweepGroup is sweep for the rest of the group.
func (p *Process) sweepGroup(rest time.Duration) []Leftover {
	select {
	case <-p.exited:
	default:
		return nil // it could not be killed: there is no "after"
	}
	if !p.group.alive() {
		return nil
	}
	if p.group.goneWithin(rest) {
		return nil
	}
	left := p.group.members()
	p.group.kill()
	p.group.goneWithin(time.Second)
	return left
}

// finish waits for the last output, stops reading and unregisters the group.
func (p *Process) finish() {
	waitFor(context.Background(), p.done, 2*WaitDelay)
	for _, st := range p.streams {
		st.giveUp()
	}
	select {
	case <-p.exited:
		p.group.close()
		p.registered.Do(func() { p.spec.Registry.remove(p.ref) })
	default: // it could not be killed and remains in the registry
	}
}

var errReleased = errors.New("the process was released or has been stopped")

// Release gives up the group, for example to a state file with the Ref it returns:
// the end of the context, the runner or its Registry no longer ends it. The process
// needs Spec.LogFile to continue writing after the runner has exited; a standard
// input that is a pipe ends with the runner.
func (p *Process) Release() (Ref, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped != nil || p.released {
		return Ref{}, errReleased
	}
	p.released = true
	p.detach()
	p.group.release()
	p.registered.Do(func() { p.spec.Registry.release(p.ref) })
	return p.ref, nil
}

// backoff calls try with growing pauses until it returns true or d is over.
func backoff(d time.Duration, try func() bool) bool {
	deadline := time.Now().Add(d)
	for pause := 100 * time.Microsecond; ; pause = min(2*pause, 20*time.Millisecond) {
		if try() {
			return true
		}
		left := time.Until(deadline)
		if left <= 0 {
			return false
		}
		if pause = min(pause, left); pause < time.Millisecond {
			sleepBriefly(pause)
		} else {
			time.Sleep(pause)
		}
	}
}
