package run

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"mcptest/internal/auth"
	"mcptest/internal/mcp"
	"mcptest/internal/proc"
	"mcptest/internal/result"
)

// readyPause is the time between two attempts to reach a server.
const readyPause = 200 * time.Millisecond

// connect opens a session, waiting for the server first where the suite says
// so: for a time, in which a server with an address is tried again until it is
// there, or until a probe succeeds.
func (s *slot) connect(ctx context.Context) (*mcp.Session, error) {
	e := s.entry
	wait, err := time.ParseDuration(e.def.WaitForReady)
	if e.def.WaitForReady == "" || err == nil && e.def.URL == "" {
		// A process is there once it was started: what is left is the handshake.
		return s.greet(ctx, e.def.ConnectTimeout+wait, proc.Probe{})
	}
	if err != nil {
		p, err := proc.ParseProbe(e.def.WaitForReady)
		if err != nil {
			return nil, fmt.Errorf("wait_for_ready: %w", err)
		}
		return s.greet(ctx, e.def.ConnectTimeout, p)
	}
	var sess *mcp.Session
	err = Retry(ctx, wait, func(ctx context.Context) (err error) {
		sess, err = s.greet(ctx, e.def.ConnectTimeout, proc.Probe{})
		return err
	})
	return sess, err
}

// NotReadyError says that a server was waited for in vain.
type NotReadyError struct {
	Limit  time.Duration // of wait_for_ready
	Waited time.Duration // longer than the limit when one attempt took longer
	Err    error         // of the last attempt
}

// Error says how long, and what the last attempt found.
func (e *NotReadyError) Error() string {
	return fmt.Sprintf("not ready after %s (limit: wait_for_ready %s): %v", e.Waited, e.Limit, e.Err)
}

// Unwrap returns the last attempt's error.
func (e *NotReadyError) Unwrap() error { return e.Err }

// Retry calls open again while its error is that of a server which may still be
// starting, for the time given. After an attempt to which nothing was answered
// the next ones have no longer than what is left of it.
func Retry(ctx context.Context, wait time.Duration, open func(context.Context) error) error {
	began := time.Now()
	until := began.Add(wait)
	for hung := false; ; {
		err := attemptUntil(ctx, until, hung, open)
		if err == nil || ctx.Err() != nil || !comingUp(err) && !hangs(err) {
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

// hangs reports whether a failure is that of a server which took the connection
// and answered nothing.
func hangs(err error) bool { return errors.As(err, new(*mcp.TimeoutError)) }

// waitedInVain tells a server that was waited for in vain from one that failed.
func waitedInVain(err error) bool {
	var late *NotReadyError
	var probe *proc.NotReadyError
	return errors.As(err, &late) || errors.As(err, &probe)
}

// comingUp reports whether a failure is that of a server which may still be
// starting: nobody listens, or a proxy before it says so.
func comingUp(err error) bool {
	var he *mcp.HTTPError
	if errors.As(err, &he) {
		return he.Info.Status == http.StatusNotFound || he.Info.Status >= 500
	}
	var login *auth.LoginError
	if errors.As(err, &login) {
		return false
	}
	var ce *mcp.ConnectError
	return errors.As(err, &ce) && ce.Info == nil
}

// StartedTwice says that a server had to be started twice (or connected to),
// because it ended while it was asked which era it is of, or did not answer
// that. Only one that ended with the question in flight may have ended because
// of it, and even that is not known.
func StartedTwice(why error, protocol string) string {
	var died *mcp.ClosedError
	if !errors.As(why, &died) {
		return fmt.Sprintf("it was started twice to find out its protocol revision: %v; protocol: %s saves the wait", why, protocol)
	}
	msg := fmt.Sprintf("it was started twice, because it ended when it was asked for its protocol revisions (server/discover): %v", died)
	if n := len(died.Stderr); n > 0 && proc.Cause(died.Stderr) == "" {
		msg += "; end of stderr: " + mcp.Excerpt([]byte(strings.Join(died.Stderr[max(0, n-3):], " | ")))
	}
	return msg + "; if the question is what ends it, protocol: " + protocol + " spares it that"
}

// probe waits until a probe succeeds: as long as the flag says, else within
// what ctx has.
func probe(ctx context.Context, flag time.Duration, p proc.Probe, process *proc.Process) error {
	if flag > 0 {
		var cancel context.CancelFunc
		ctx, cancel = mcp.WithLimit(ctx, "--wait-for-ready", flag)
		defer cancel()
	}
	err := p.Wait(ctx, proc.Watch{Process: process})
	var late *proc.NotReadyError
	var limit *mcp.Limit
	switch {
	case err == nil:
		return nil
	case errors.As(err, &late) && errors.As(late.Cause, &limit):
		return fmt.Errorf("wait_for_ready (limit: %s): %w", limit.Error(), err)
	}
	return fmt.Errorf("wait_for_ready: %w", err)
}

// greet dials, waits for the probe, and shakes hands. Finding out the era of the
// server may take a second connection, which has the same limit again.
func (s *slot) greet(ctx context.Context, limit time.Duration, p proc.Probe) (*mcp.Session, error) {
	e := s.entry
	dial := func(ctx context.Context) (mcp.Transport, error) {
		whole, cancel := mcp.WithLimit(ctx, "connect_timeout", limit+e.def.ProbeTime)
		defer cancel()
		t, err := e.dial(whole)
		if err == nil && p.Kind() != 0 {
			if err = probe(whole, e.def.ProbeTime, p, t.Facts().Process); err != nil {
				t.Close(context.WithoutCancel(ctx))
			}
		}
		return t, err
	}
	t, err := dial(ctx)
	if err != nil {
		return nil, err
	}
	era, hint := e.r.w.Eras.Of(e.def)
	sess, err := mcp.Open(ctx, t, mcp.Options{
		Protocol: e.def.Protocol, Client: mcp.Implementation{Name: e.r.w.Tool.Name, Version: e.r.w.Tool.Version},
		Capabilities: e.caps.JSON(), ConnectTimeout: limit, Limits: e.r.w.Limits,
		Era: era, Hint: hint, Redial: dial,
		Tolerate: func(kind string) bool { return e.def.Tolerate[kind] },
	})
	if err != nil {
		return nil, err
	}
	e.r.w.Eras.Found(e.def, sess, era == mcp.EraUnknown && e.def.Protocol == mcp.Auto)
	if died := sess.Restarted(); died != nil {
		e.finding(result.Finding{Kind: "server-restarted", Severity: "warning", Message: StartedTwice(died, sess.Protocol())})
	}
	return sess, nil
}
