package guard

import (
	"context"
	"errors"
	"time"
)

// How long a run waits for an adapter that limits the rate of calls: for one call,
// and in total.
const (
	maxRateWait  = 30 * time.Second
	maxRateWaits = 2 * time.Minute
)

var errLimited = errors.New("the adapter limits the rate of calls")

// unlimited repeats a call once that was refused by the rate limit, after the time
// that the refusal names. If it is refused again, it counts as not sent: nothing is
// known about the operation.
func (a *caller) unlimited(ctx context.Context, r Reply) Reply {
	if !r.rateLimited() {
		return r
	}
	d := r.retryAfter()
	if d <= maxRateWait && a.waited+d <= maxRateWaits && a.Tape.Pause(ctx, d) {
		a.waited += d
		r = a.SendNow(ctx, Reply{Tool: r.Tool, Args: r.Args})
	}
	if r.rateLimited() {
		r.limited, r.Cause = true, errLimited
	}
	return r
}
