package run

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"mcptest/internal/mcp"
)

// cleanupTime is what all clean-up together may take after a signal.
const cleanupTime = 10 * time.Second

// stopTime is the end of that time, which no hook or step may use: servers and
// background steps are stopped in it, and may want to remove what they made.
const stopTime = 2500 * time.Millisecond

// shortTime: with less than this left after a signal, only teardown steps
// with `always: true` are still begun.
const shortTime = 2 * time.Second

// cleanupLimit begins the name of the limit that clean-up has.
const cleanupLimit = "clean-up after "

// cleanup is the time in which what was begun is ended. The end of the run's
// context does not cut it short: it starts a clock, whatever is being ended
// at that moment, and all of it shares what the clock allows.
type cleanup struct {
	run    context.Context
	ctx    context.Context
	cancel context.CancelCauseFunc
	unhook func() bool

	mu    sync.Mutex
	end   time.Time // zero: no signal came
	timer *time.Timer
}

func newCleanup(run context.Context) *cleanup {
	c := &cleanup{run: run}
	c.ctx, c.cancel = context.WithCancelCause(context.WithoutCancel(run))
	c.unhook = context.AfterFunc(run, c.start)
	return c
}

// start sets the deadline. It may be called more than once.
func (c *cleanup) start() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.end.IsZero() {
		return
	}
	c.end = time.Now().Add(cleanupTime)
	c.timer = time.AfterFunc(cleanupTime, func() {
		c.cancel(fmt.Errorf("clean-up is given %v after %s", cleanupTime, signalOf(c.run)))
	})
}

// left is what remains of the shared time for hooks and steps; limited is false
// while nobody has asked the run to end.
func (c *cleanup) left() (d time.Duration, limited bool) {
	d, limited = c.all()
	return d - stopTime, limited
}

// all is what remains of the whole shared time.
func (c *cleanup) all() (d time.Duration, limited bool) {
	if c.run.Err() == nil {
		return stopTime, false
	}
	c.start()
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Until(c.end), true
}

// part bounds the stop of the first of n background steps: from a signal on by
// its part of what is left then.
func (c *cleanup) part(n int) (context.Context, context.CancelFunc) {
	left, limited := c.all()
	if !limited {
		return context.WithCancel(c.ctx)
	}
	return context.WithTimeout(c.ctx, left/time.Duration(n))
}

// limit bounds one hook or step of clean-up: by its own setting, and from a
// signal on by half of what is left then, so that one that hangs leaves time
// for those after it.
func (c *cleanup) limit(name string, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancelLimit := mcp.WithLimit(c.ctx, name, d)
	ctx, cancel := context.WithCancelCause(ctx)
	var mu sync.Mutex
	var timer *time.Timer
	unhook := context.AfterFunc(c.run, func() {
		left, _ := c.left()
		left = max(left, 0)
		mu.Lock()
		defer mu.Unlock()
		timer = time.AfterFunc(left/2, func() {
			cancel(&mcp.Limit{Name: cleanupLimit + signalOf(c.run), For: round(left / 2)})
		})
	})
	return ctx, func() {
		unhook()
		mu.Lock()
		if timer != nil {
			timer.Stop()
		}
		mu.Unlock()
		cancel(nil)
		cancelLimit()
	}
}

// close ends the clock. Nothing may be done under the context afterwards.
func (c *cleanup) close() {
	c.unhook()
	c.mu.Lock()
	if c.timer != nil {
		c.timer.Stop()
	}
	c.mu.Unlock()
	c.cancel(nil)
}

// signalOf names what ended a context.
func signalOf(ctx context.Context) string {
	var in *Interrupted
	if errors.As(context.Cause(ctx), &in) {
		return in.Signal
	}
	return "the end of the run"
}

// givenUp reports whether ctx ended because the run is to end, and not because
// a limit of its own was hit.
func givenUp(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }
