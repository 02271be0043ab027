package connect

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"mcptest/internal/client/auth"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/wire"
	"mcptest/internal/process/probe"
	"mcptest/internal/process/proc"
)

// readyPause is the pause between two attempts.
const readyPause = 200 * time.Millisecond

// NotReadyError reports that a server did not become ready in time.
type NotReadyError struct {
	Limit  time.Duration // of wait_for_ready
	Waited time.Duration // longer than Limit if one attempt took longer
	Err    error         // of the last attempt
}

// Error contains the time and the error of the last attempt.
func (e *NotReadyError) Error() string {
	return fmt.Sprintf("not ready after %s (limit: wait_for_ready %s): %v", e.Waited, e.Limit, e.Err)
}

// Unwrap returns the last attempt's error.
func (e *NotReadyError) Unwrap() error { return e.Err }

// Retry calls open until it succeeds, its error is not that of a starting server, or
// the given time is over. After an attempt without a response, the next ones are
// limited to the remaining time.
func Retry(ctx context.Context, wait time.Duration, open func(context.Context) error) error {
	began := time.Now()
	until := began.Add(wait)
	for hung := false; ; {
		err := attemptUntil(ctx, until, hung, open)
		if err == nil || ctx.Err() != nil || !isComingUp(err) && !hangs(err) {
			return err
		}
		hung = hangs(err)
		if time.Now().Add(readyPause).After(until) {
			late := &NotReadyError{Limit: wait, Waited: wait, Err: err}
			if hung {
				late.Waited = max(wait, time.Since(began).Round(10*time.Millisecond))
			}
			return late
		}
		select {
		case <-time.After(readyPause):
		case <-ctx.Done():
		}
	}
}

func attemptUntil(ctx context.Context, until time.Time, bound bool, open func(context.Context) error) error {
	if bound {
		var cancel context.CancelFunc
		ctx, cancel = mcp.WithLimit(ctx, "wait_for_ready", time.Until(until).Round(time.Millisecond))
		defer cancel()
	}
	return open(ctx)
}

// hangs reports whether the server accepted the connection but did not respond.
func hangs(err error) bool { return errors.As(err, new(*mcp.TimeoutError)) }

// IsNotReady reports whether err means that a server did not become ready in time, as
// opposed to one that failed.
func IsNotReady(err error) bool {
	return errors.As(err, new(*NotReadyError)) || errors.As(err, new(*probe.NotReadyError))
}

// isComingUp reports whether a server with this error may still be starting: the port
// is closed, or a proxy in front of it responds with an error.
func isComingUp(err error) bool {
	if he, ok := errors.AsType[*wire.HTTPError](err); ok {
		return he.Info.Status == http.StatusNotFound || he.Info.Status >= 500
	}
	if _, ok := errors.AsType[*auth.LoginError](err); ok {
		return false
	}
	var ce *wire.ConnectError
	return errors.As(err, &ce) && ce.Info == nil
}

// waitForProbe waits until a probe succeeds, limited by the flag if it is set,
// otherwise by ctx.
func waitForProbe(ctx context.Context, flag time.Duration, p probe.Probe, process *proc.Process) error {
	if flag > 0 {
		var cancel context.CancelFunc
		ctx, cancel = mcp.WithLimit(ctx, "--wait-for-ready", flag)
		defer cancel()
	}
	err := p.Wait(ctx, probe.Watch{Process: process})
	var late *probe.NotReadyError
	var limit *mcp.Limit
	switch {
	case err == nil:
		return nil
	case errors.As(err, &late) && errors.As(late.Cause, &limit):
		return fmt.Errorf("wait_for_ready (limit: %s): %w", limit.Error(), err)
	}
	return fmt.Errorf("wait_for_ready: %w", err)
}
