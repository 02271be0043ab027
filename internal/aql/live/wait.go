package live

import (
	"context"
	"errors"
	"strings"
	"time"
)

// How long a run waits for an adapter that limits the rate of calls: for one
// call, and in all.
const (
	maxRateWait  = 30 * time.Second
	maxRateWaits = 2 * time.Minute
)

var errLimited = errors.New("the adapter limits the rate of calls")

// unlimited repeats a call once that was refused for coming too soon, after
// the time that the refusal names. A call that is refused again is as good as
// not sent: nothing is known of the operation.
func (a *caller) unlimited(ctx context.Context, r reply) reply {
	if !r.rateLimited() {
		return r
	}
	d := r.retryAfter()
	if d <= maxRateWait && a.waited+d <= maxRateWaits && a.tape.Pause(ctx, d) {
		a.waited += d
		r = a.sendNow(ctx, reply{tool: r.tool, args: r.args})
	}
	if r.rateLimited() {
		r.limited, r.cause = true, errLimited
	}
	return r
}

func (r reply) rateLimited() bool { return strings.HasPrefix(r.code(), "RATE_LIMIT") }

// retryAfter is how long a refusal asks to wait, a second when it does not
// say.
func (r reply) retryAfter() time.Duration {
	for _, key := range []string{"retry_after_seconds", "retry_after"} {
		if v := r.env.Lookup("error", "details", key); v.Float64() > 0 {
			return time.Duration(min(v.Float64(), 1e6) * float64(time.Second))
		}
	}
	return time.Second
}
