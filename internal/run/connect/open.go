package connect

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/process/probe"
	"mcptest/internal/process/tail"
	"mcptest/internal/spec/plan"
)

// Dialer opens the transport of a server, like [Dial].
type Dialer func(ctx context.Context, s *plan.Server, o Options) (wire.Transport, error)

// Opener opens sessions with servers.
type Opener struct {
	Options Options
	Dial    Dialer
	Client  mcp.Implementation
	Eras    *Eras
}

// Open starts or connects to a server and performs the handshake; caps are the
// capabilities of the client. If the suite has wait_for_ready, Open first waits until
// a probe succeeds, or retries an address for that time.
func (o *Opener) Open(ctx context.Context, s *plan.Server, caps jsonv.Value) (*mcp.Session, error) {
	wait, err := time.ParseDuration(s.WaitForReady)
	switch {
	case s.WaitForReady == "" || err == nil && s.URL == "":
		// A process is ready once it has started; only the handshake remains.
		return o.shakeHands(ctx, s, caps, s.ConnectTimeout+wait, probe.Probe{})
	case err != nil:
		p, err := probe.Parse(s.WaitForReady)
		if err != nil {
			return nil, fmt.Errorf("wait_for_ready: %w", err)
		}
		if s.ReadyAtServer {
			p = p.AtServers(s.WaitForReady)
		}
		return o.shakeHands(ctx, s, caps, s.ConnectTimeout, p)
	}
	var sess *mcp.Session
	err = Retry(ctx, wait, func(ctx context.Context) (err error) {
		sess, err = o.shakeHands(ctx, s, caps, s.ConnectTimeout, probe.Probe{})
		return err
	})
	return sess, err
}

// shakeHands dials, waits for the probe, and initializes the session. Detecting the
// era of the server may need a second connection, with the same time limit.
func (o *Opener) shakeHands(
	ctx context.Context, s *plan.Server, caps jsonv.Value, limit time.Duration, p probe.Probe,
) (*mcp.Session, error) {
	dial := func(ctx context.Context) (wire.Transport, error) {
		whole, cancel := mcp.WithLimit(ctx, "connect_timeout", limit+s.ProbeTime)
		defer cancel()
		t, err := o.Dial(whole, s, o.Options)
		if err == nil && p.Kind() != 0 {
			if err = waitForProbe(whole, s.ProbeTime, p, t.Facts().Process); err != nil {
				t.Close(context.WithoutCancel(ctx))
			}
		}
		return t, err
	}
	t, err := dial(ctx)
	if err != nil {
		return nil, err
	}
	era, hint := o.Eras.Find(s)
	sess, err := mcp.Open(ctx, t, mcp.Options{
		Protocol: s.Protocol, Client: ClientOf(s, o.Client), Capabilities: caps, ConnectTimeout: limit, Limits: o.Options.Limits,
		Era: era, Hint: hint, Redial: dial, OneEra: o.Options.OneEra,
		Tolerate: func(kind string) bool { return s.Tolerate[kind] },
	})
	if err != nil {
		return nil, o.Options.Sessions.Explain(s, err)
	}
	o.Options.Sessions.Opened(s, sess)
	o.Eras.Found(s, sess, era == protocol.EraUnknown && s.Protocol == mcp.Auto)
	return sess, nil
}

// ClientOf returns what the client of a server says it is: own, unless client: of the
// server says otherwise.
func ClientOf(s *plan.Server, own mcp.Implementation) mcp.Implementation {
	c := s.Client
	if c.Name != "" {
		own.Name, own.Title = c.Name, c.Title
	}
	own.Title = cmp.Or(c.Title, own.Title)
	own.Version = cmp.Or(c.Version, own.Version)
	return own
}

// ExplainSecondStart explains that a server had to be started (or connected to) twice, because
// it exited during the detection of its era. A server that exited with the request in
// flight may have exited because of it, but that is not certain.
func ExplainSecondStart(why error, version string) string {
	var died *wire.ClosedError
	if !errors.As(why, &died) {
		return fmt.Sprintf("it was started twice: %v", why)
	}
	if HasEndedByItself(why) {
		return fmt.Sprintf("it was started twice: the first time it ended before it read a request: %v", died)
	}
	msg := fmt.Sprintf("it was started twice, because it exited on the request for its protocol versions (server/discover): %v", died)
	if n := len(died.Stderr); n > 0 && tail.Cause(died.Stderr) == "" {
		msg += "; end of stderr: " + protocol.Excerpt([]byte(strings.Join(died.Stderr[max(0, n-3):], " | ")))
	}
	return msg + "; if that request is the cause, protocol: " + version + " avoids it"
}

// HasEndedByItself reports whether a server that was started twice had ended without
// having read a request, so that none is the cause. That is known on Linux only.
func HasEndedByItself(why error) bool {
	var died *wire.ClosedError
	return errors.As(why, &died) && bytes.Contains(died.Unread, []byte(`"server/discover"`))
}
