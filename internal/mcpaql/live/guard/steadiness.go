package guard

import (
	"time"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/live/catalog"
	"mcptest/internal/mcpaql/live/change"
)

// Some parts of an answer differ each time. They are found by repeating the request,
// immediately and more than a second later, and are left out of every comparison.

// steadiness knows which parts of answers change by themselves.
type steadiness struct {
	rows     *rows
	caller   *caller
	Masks    map[string]change.Mask
	failures map[string]bool // kinds of error tests already kept
	known    map[string]bool // operations of which this was learned when the run began
	Lag      time.Duration   // how long lists and reads lag behind a change, as far as it was seen
}

// getMask returns the known mask of an operation.
func (st *steadiness) getMask(op *catalog.Operation) change.Mask {
	if st.Masks[op.Name] == nil {
		st.Masks[op.Name] = change.Mask{}
	}
	return st.Masks[op.Name]
}

// lags are the delays after which the effect of a change is looked for again. They
// add up to more than a second.
var lags = []time.Duration{400 * time.Millisecond, 800 * time.Millisecond}

// Await looks for the effect of a change again and learns how long lists and reads lag
// behind.
func (st *steadiness) Await(shows func() bool) {
	waited := time.Duration(0)
	for _, d := range lags {
		if !st.caller.Tape.Pause(st.caller.Ctx, d) {
			return
		}
		waited += d
		if shows() {
			st.Lag = max(st.Lag, waited)
			return
		}
	}
}

// repeatCall repeats a call and learns the differences; it returns false if the call
// fails.
func (st *steadiness) repeatCall(op *catalog.Operation, r Reply) bool {
	repeated := st.caller.Send(r.Tool, r.Args)
	if repeated.IsOK() {
		st.getMask(op).Learn(r.Envelope, repeated.Envelope)
	}
	return repeated.IsOK()
}

// Controls is how many times a difference is checked again.
const Controls = 2

// Differs reports whether an answer differs from the baseline, and still does when
// both calls are repeated.
func (st *steadiness) Differs(op *catalog.Operation, base, r Reply) bool {
	for range Controls {
		if st.getMask(op).IsAlike(base.Envelope, r.Envelope) || !st.repeatCall(op, base) || !st.repeatCall(op, r) {
			return false
		}
	}
	return !st.getMask(op).IsAlike(base.Envelope, r.Envelope)
}

// isEpoch reports whether a number counts the seconds, or parts of them, since 1970.
func isEpoch(v jsonv.Value) bool {
	n, whole := v.Int64()
	return v.Kind() == jsonv.KindNumber && whole && n >= 100_000_000
}

// checkDates checks every text and number of an answer whose key suggests a time.
func (st *steadiness) checkDates(op *catalog.Operation, r Reply) {
	if !r.IsOK() || op.Name == "introspect" {
		return
	}
	var walkDates func(v jsonv.Value, depth int)
	walkDates = func(v jsonv.Value, depth int) {
		if depth > 20 {
			return
		}
		for k, e := range v.Children() {
			hasDate := isEpoch(e) || dateLike().MatchString(e.Text())
			named := change.DateName().MatchString(k) || dateOn().MatchString(k) && hasDate
			if named && (e.Kind() == jsonv.KindString || isEpoch(e)) {
				st.rows.Count("dates")
				key := op.Name + " " + k
				if !isoDate().MatchString(e.Text()) && !st.failures[key] {
					st.failures[key] = true
					st.rows.Fail("dates.iso", r,
						"%s returns %s for %s", op.Name, display.Truncate(e.String(), 42), evidence.Quote(k))
				}
			}
			walkDates(e, depth+1)
		}
	}
	walkDates(r.Data(), 0)
}

// dateOn matches the names of members that hold dates if their values look like one,
// and dateLike what does.
var (
	dateOn   = evidence.Pattern(`(_on|[a-z]On)$`)
	dateLike = evidence.Pattern(`^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(\D|$)|\b\d{1,2}:\d\d\b`)
)
