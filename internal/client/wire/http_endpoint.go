package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// EndpointError reports an event stream that is not one of HTTP+SSE: its first event
// must contain the address to post to.
type EndpointError struct {
	Err  error
	Info *HTTPInfo // of the stream
}

// Error describes what is wrong with the stream.
func (e *EndpointError) Error() string { return "the event stream of HTTP+SSE: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *EndpointError) Unwrap() error { return e.Err }

// fallBack opens HTTP+SSE on a server that rejected Streamable HTTP. If it has an
// invalid event stream, the error includes that.
func (t *HTTP) fallBack(ctx context.Context, refused error) (*endpointStream, error) {
	s, err := t.connectOld(ctx)
	if err == nil {
		return s, nil
	}
	if wrong, ok := errors.AsType[*EndpointError](err); ok {
		return nil, fmt.Errorf("%w; %w", refused, wrong)
	}
	return nil, refused
}

// errorTime is how long before its caller's deadline the wait for the endpoint event
// ends, to leave time for a precise error.
const errorTime = 250 * time.Millisecond

// deadline limits the wait for the endpoint event.
type deadline struct {
	timer *time.Timer // nil if there is none
	began time.Time
	over  atomic.Bool
}

// newLateDeadline cancels shortly before the deadline of ctx.
func newLateDeadline(ctx context.Context, cancel context.CancelFunc) *deadline {
	d := &deadline{began: time.Now()}
	if until, ok := ctx.Deadline(); ok {
		left := time.Until(until)
		d.timer = time.AfterFunc(left-min(left/10, errorTime), func() {
			d.over.Store(true)
			cancel()
		})
	}
	return d
}

func (d *deadline) stop() {
	if d.timer != nil {
		d.timer.Stop()
	}
}

// explain returns the error of a wait that ended without an endpoint event.
func (d *deadline) explain(others int, err error) error {
	came := "no endpoint event was received"
	if others > 0 {
		came += " (" + countEvents(others) + " of another type did)"
	}
	switch {
	case d.over.Load():
		return fmt.Errorf("%s within %s (limit: connect_timeout)", came, Duration(time.Since(d.began)))
	case errors.Is(err, io.EOF):
		return errors.New(came + " before it ended")
	}
	return fmt.Errorf("%s: %w", came, err)
}
