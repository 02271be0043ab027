package run

import (
	"context"
	"errors"
	"fmt"
	"net/http"
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
	Waited time.Duration
	Err    error // of the last attempt
}

// Error says how long, and what the last attempt found.
func (e *NotReadyError) Error() string {
	return fmt.Sprintf("not ready after %s (limit: wait_for_ready %s): %v", e.Waited, e.Waited, e.Err)
}

// Unwrap returns the last attempt's error.
func (e *NotReadyError) Unwrap() error { return e.Err }

// Retry calls open again while its error is that of a server which may still be
// starting, for the time given.
func Retry(ctx context.Context, wait time.Duration, open func(context.Context) error) error {
	for until := time.Now().Add(wait); ; {
		err := open(ctx)
		if err == nil || ctx.Err() != nil || !comingUp(err) {
			return err
		}
		if time.Now().Add(readyPause).After(until) {
			return &NotReadyError{Waited: wait, Err: err}
		}
		select {
		case <-time.After(readyPause):
		case <-ctx.Done():
		}
	}
}

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

// Died says that a server had to be started twice, because the question which
// era it is of ended it.
func Died(why *mcp.ClosedError, protocol string) string {
	return fmt.Sprintf("server/discover, which asks a server for its protocol revisions, ended it, and it was started again: %v; protocol: %s spares it the question", why, protocol)
}

// greet dials, waits for the probe, and shakes hands, all within the limit.
func (s *slot) greet(ctx context.Context, limit time.Duration, p proc.Probe) (*mcp.Session, error) {
	e := s.entry
	ctx, cancel := mcp.WithLimit(ctx, "connect_timeout", limit)
	defer cancel()
	t, err := e.dial(ctx)
	if err != nil {
		return nil, err
	}
	if p.Kind() != 0 {
		if err := p.Wait(ctx, proc.Watch{Process: t.Facts().Process}); err != nil {
			t.Close(context.WithoutCancel(ctx))
			return nil, fmt.Errorf("wait_for_ready: %w", err)
		}
	}
	e.mu.Lock()
	era := e.era
	e.mu.Unlock()
	sess, err := mcp.Open(ctx, t, mcp.Options{
		Protocol: e.def.Protocol, Client: mcp.Implementation{Name: e.r.w.Tool.Name, Version: e.r.w.Tool.Version},
		Capabilities: e.caps.JSON(), ConnectTimeout: limit, Limits: e.r.w.Limits,
		Era: era, Redial: e.dial,
		Tolerate: func(kind string) bool { return e.def.Tolerate[kind] },
	})
	if err != nil {
		return nil, err
	}
	if died := sess.Restarted(); died != nil {
		e.r.finding(result.Finding{Kind: "server-restarted", Severity: "warning", Server: e.def.Name, Message: Died(died, sess.Protocol())})
	}
	return sess, nil
}
