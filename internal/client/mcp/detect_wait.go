package mcp

import (
	"context"
	"time"

	"mcptest/internal/client/protocol"
)

// Limits of the wait for the response to server/discover, in time that a stopwatch
// counts. They do not decide the era, only when initialize is sent too, and how long
// after its response the one to server/discover may arrive.
const (
	// silence is how long a server must be silent before it gets a guest.
	silence = 3 * time.Second
	// guestGrace is how long it must at least stay silent after the guest's response.
	guestGrace = 500 * time.Millisecond
	// hintGrace is the same for a server that did not respond in an earlier run, either.
	hintGrace = 200 * time.Millisecond
	// probeStart is how long it must be silent before initialize is sent on the first
	// connection, if there can be no other; at most half of the connect timeout.
	probeStart = 10 * time.Second
	// probeOutput is the same from the first output of a process.
	probeOutput = 4 * time.Second
)

// A probeWait is the wait for the response to server/discover.
type probeWait struct {
	n     *negotiator
	watch stopwatch
	since time.Duration // when the silence began, in the time of watch
	most  time.Duration // how long it may last if there can be no second connection
	limit time.Duration // how long it may last while the second one has no response, either
	// patience is how long it may last before a second connection is opened.
	patience time.Duration

	heard time.Time // HTTP: the last response
	spoke bool      // stdio: there was output

	awaited bool // at the last wake-up, the server had the request, and nothing else was waited for
	guest   guest
}

// newProbeWait begins a wait.
func newProbeWait(ctx context.Context, n *negotiator) *probeWait {
	w := &probeWait{n: n, watch: startStopwatch(time.Now()), most: probeStart}
	if until, ok := ctx.Deadline(); ok {
		w.most = min(w.most, time.Until(until)/2)
	}
	w.limit = w.most
	w.patience, w.guest.grace = min(silence, w.most), guestGrace
	if n.o.Hint == protocol.EraSession {
		w.patience, w.most, w.guest.grace, w.guest.hinted = 0, 0, hintGrace, true
	}
	if n.http != nil {
		w.heard, _ = n.http.Awaits()
	}
	return w
}

// awaitProbe waits for the response to the probe. It returns nil when initialize must
// be sent too, and the session of the guest if that one has settled the era. Over HTTP,
// ask repeats the probe once the guest has a session: only the first response of a
// server may have been slow.
func (n *negotiator) awaitProbe(ctx context.Context, probe <-chan *Exchange, ask func()) (*Exchange, *Session) {
	if n.o.Redial == nil {
		return <-probe, nil
	}
	w := newProbeWait(ctx, n)
	defer w.guest.dismiss(n)
	ticks := time.NewTicker(tick)
	defer ticks.Stop()
	for {
		select {
		case x := <-probe:
			if w.guest.hasEndedWithGuest(x) {
				return &Exchange{Cause: &brokenByGuestError{x.Cause}}, nil
			}
			return x, nil
		case r := <-w.guest.opened:
			w.guest.receive(r, w.watch.counted)
			if w.guest.state == guestOpened && !n.isStdio() {
				ask()
			}
		case now := <-ticks.C:
			w.wake(now)
			switch {
			case w.guest.isSettled(w.watch.counted):
				return nil, w.guest.take()
			case w.mayInvite():
				w.guest.invite(ctx, n, w.watch.counted)
			case w.isExhausted():
				return nil, nil
			}
		}
	}
}

// wake updates the stopwatch. The silence begins anew with a response over HTTP, and
// with the first output of a process.
func (w *probeWait) wake(now time.Time) {
	if w.n.http != nil {
		heard, waits := w.n.http.Awaits()
		w.awaited = waits
		w.watch.wake(now, w.awaited)
		if heard.After(w.heard) {
			w.heard, w.since = heard, w.watch.counted
		}
		return
	}
	w.awaited = !w.n.isStarting()
	w.watch.wake(now, w.awaited)
	if !w.spoke && !w.n.findFirstOutput().IsZero() {
		w.spoke, w.since = true, w.watch.counted
		if w.n.o.Hint != protocol.EraStateless {
			w.most = min(w.most, probeOutput)
		}
	}
}

// silent returns how long the server has been silent.
func (w *probeWait) silent() time.Duration { return w.watch.counted - w.since }

// mayInvite reports whether the server gets a guest now.
func (w *probeWait) mayInvite() bool {
	o := w.n.o
	return w.awaited && w.guest.state == guestNone && o.Hint != protocol.EraStateless && !o.alone && w.silent() >= w.patience
}

// isExhausted reports whether initialize must be sent on the first connection: it has been
// silent for long, and the second one proves nothing. A guest without a response gets
// more time, as it may wait for what the first process holds.
func (w *probeWait) isExhausted() bool {
	switch {
	case !w.awaited || w.guest.modern:
		return false
	case w.guest.state == guestOpening:
		return w.silent() >= w.limit
	case w.guest.state == guestOpened:
		return false // its time is limited by settled
	}
	return w.silent() >= w.most
}

// isStarting reports whether the process has not read its input yet, so that it can't
// respond to it. This is known on Linux only.
func (n *negotiator) isStarting() bool {
	p := n.conn.Facts().Process
	return p != nil && p.InputWaiting() > 0
}

// findFirstOutput returns the time of the first output of a process, or zero.
func (n *negotiator) findFirstOutput() time.Time {
	first := n.conn.Output().First
	if tail := n.conn.Facts().Stderr; tail != nil {
		at := tail.First()
		if first.IsZero() || !at.IsZero() && at.Before(first) {
			return at
		}
	}
	return first
}

// brokenByGuestError reports that the first connection ended after a guest had been
// invited.
type brokenByGuestError struct{ why error }

func (e *brokenByGuestError) Error() string { return e.why.Error() }
func (e *brokenByGuestError) Unwrap() error { return e.why }
