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
	st.checkDatesIn(r.Data(), 0, op, r)
}

// maxDateDepth limits how deep in an answer dates are looked for.
const maxDateDepth = 20

// checkDatesIn checks the members of a value in an answer, and those below them.
func (st *steadiness) checkDatesIn(v jsonv.Value, depth int, op *catalog.Operation, r Reply) {
	if depth > maxDateDepth {
		return
	}
	for name, e := range v.Children() {
		if isDate(name, e) {
			st.checkDate(name, e, op, r)
		}
		st.checkDatesIn(e, depth+1, op, r)
	}
}

// isDate reports whether a member is meant as a time, by its name.
func isDate(name string, v jsonv.Value) bool {
	if v.Kind() != jsonv.KindString && !isEpoch(v) {
		return false
	}
	if change.DateName().MatchString(name) {
		return true
	}
	looksLikeDate := isEpoch(v) || dateLike().MatchString(v.Text())
	return looksLikeDate && dateOn().MatchString(name)
}

// checkDate requires the form of ISO 8601. It fails once for each member of an operation.
func (st *steadiness) checkDate(name string, v jsonv.Value, op *catalog.Operation, r Reply) {
	st.rows.Count("dates")
	key := op.Name + " " + name
	if isoDate().MatchString(v.Text()) || st.failures[key] {
		return
	}
	st.failures[key] = true
	shown := display.Truncate(v.String(), 42)
	st.rows.Fail("dates.iso", r, "%s returns %s for %s", op.Name, shown, evidence.Quote(name))
}

// dateOn matches the names of members that hold dates if their values look like one,
// and dateLike what does.
var (
	dateOn   = evidence.Pattern(`(_on|[a-z]On)$`)
	dateLike = evidence.Pattern(`^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(\D|$)|\b\d{1,2}:\d\d\b`)
)
