package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// EndpointError says why an event stream that a server opened is not one of
// HTTP+SSE: its first event has to name the address to post to.
type EndpointError struct {
	Err  error
	Info *HTTPInfo // of the stream
}

// Error says what is wrong with the stream.
func (e *EndpointError) Error() string { return "the event stream of HTTP+SSE: " + e.Err.Error() }

// Unwrap returns what is wrong.
func (e *EndpointError) Unwrap() error { return e.Err }

// fallBack opens HTTP+SSE on a server that refused Streamable HTTP. Where it
// has an event stream, the error says what is wrong with that, too.
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

// tellTime is how long before its caller's time is up the wait for the endpoint
// event ends, at most, so that there is time to say what was waited for.
const tellTime = 250 * time.Millisecond

// deadline ends the wait for the endpoint event.
type deadline struct {
	timer *time.Timer // nil: there is none
	began time.Time
	over  atomic.Bool
}

// lateness cancels shortly before the time of ctx is up.
func lateness(ctx context.Context, cancel context.CancelFunc) *deadline {
	d := &deadline{began: time.Now()}
	if until, ok := ctx.Deadline(); ok {
		left := time.Until(until)
		d.timer = time.AfterFunc(left-min(left/10, tellTime), func() {
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

// explain says that no endpoint event came, and how the wait for it ended.
func (d *deadline) explain(others int, err error) error {
	came := "no endpoint event came"
	if others > 0 {
		came += " (" + events(others) + " of another type did)"
	}
	switch {
	case d.over.Load():
		return fmt.Errorf("%s within %s (limit: connect_timeout)", came, Duration(time.Since(d.began)))
	case errors.Is(err, io.EOF):
		return errors.New(came + " before it ended")
	}
	return fmt.Errorf("%s: %w", came, err)
}
