package mcp

import (
	"context"
	"time"

	"mcptest/internal/client/conn"
	"mcptest/internal/client/protocol"
)

// Types of package conn that callers of a session use.
type (
	// Call is one request to the server.
	Call = conn.Call
	// Exchange is the record of one call.
	Exchange = conn.Exchange
	// Message is a notification or request of the server, or the response to one.
	Message = conn.Message
	// Mark is a position in the order of messages.
	Mark = conn.Mark
	// Answerer answers a request of the server.
	Answerer = conn.Answerer
	// Limit is the time limit in a [TimeoutError].
	Limit = conn.Limit
	// TimeoutError ends a call that got no response in time.
	TimeoutError = conn.TimeoutError
	// CancelledError ends a call that was canceled.
	CancelledError = conn.CancelledError
	// TooManyValuesError ends a call whose response has too many values.
	TooManyValuesError = conn.TooManyValuesError
)

// Kinds of messages that accompany the response to a call.
const (
	KindNotification = conn.KindNotification
	KindRequest      = conn.KindRequest
	KindResponse     = conn.KindResponse
)

// WithLimit is [conn.WithLimit].
func WithLimit(ctx context.Context, name string, d time.Duration) (context.Context, context.CancelFunc) {
	return conn.WithLimit(ctx, name, d)
}

// sender sends single requests in the format of their protocol version.
type sender struct {
	conn       *conn.Conn
	who        *identity
	idempotent func(context.Context, []byte) bool
}

// sendOnce sends a request and waits for its response.
func (s *sender) sendOnce(ctx context.Context, c Call, d conn.Delivery) *Exchange {
	s.addVersionParams(&c, &d)
	return s.conn.Do(ctx, c, d)
}

// addVersionParams adds what the protocol version requires of a request.
func (s *sender) addVersionParams(c *Call, d *conn.Delivery) {
	if !d.Version.Known() {
		d.Version = s.conn.Version()
	}
	if d.Version.Stateless {
		c.Params = s.who.addMeta(d.Version, c.Params, c.LogLevel)
	}
	d.Idempotent = s.idempotent
}

// joinRounds combines the exchanges of one call.
func joinRounds(hops []*Exchange, x *Exchange) *Exchange {
	if len(hops) == 0 {
		return x
	}
	var during []Message
	var bad []protocol.Violation
	for _, h := range hops {
		during = append(during, h.During...)
		bad = append(bad, h.Violations...)
	}
	x.During = append(during, x.During...)
	x.Violations = append(bad, x.Violations...)
	x.Elapsed = x.Start.Add(x.Elapsed).Sub(hops[0].Start)
	x.Start = hops[0].Start
	x.Hops = hops
	return x
}
