package guard

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/live/catalog"
)

// Some parts of an answer differ each time. They are found by repeating the request,
// immediately and more than a second later, and are left out of every comparison.

// VolatileKey matches keys whose values differ from call to call.
var VolatileKey = evidence.Pattern(`(?i)^(_meta|request_?id|(start|end|next)_?cursor|etag|heap_?total|rss|memory_?usage)$|timestamp|duration|elapsed`)

// Mask holds the paths that differ by themselves between answers of an operation:
// whole values, or (false) only the digits of a text.
type Mask map[string]bool

// anyIndex represents every index of a list: what differs in one item may
// differ in the next.
var anyIndex = evidence.Pattern(`\[\d+\]`)

// digitRuns matches numbers and durations: 59s is followed by 1m 0s.
var digitRuns = evidence.Pattern(`(\d+([.,]\d+)*(ms|[dhms])?\b ?)+|\d+`)

// clockText matches a date or a time inside a text, which comparisons ignore.
var clockText = evidence.Pattern(`\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?|\b\d{1,2}:\d\d(:\d\d(\.\d+)?)?( ?[AaPp][Mm]\b)?`)

// Learn records the differences between two answers to the same request.
func (m Mask) Learn(a, b jsonv.Value) {
	for _, ch := range jsonv.Diff(WithoutVolatile(a), WithoutVolatile(b)) {
		path := anyIndex().ReplaceAllString(ch.Path, "[]")
		switch {
		case ch.Kind != jsonv.Changed && strings.HasSuffix(path, "[]"):
			m[strings.TrimSuffix(path, "[]")] = true // a list that grows
		case ch.Kind == jsonv.Changed && sameText(ch, digitRuns):
			if !m[path] {
				m[path] = false // only the digits of the text change
			}
		default:
			m[path] = true
		}
	}
}

// hides reports whether a difference is to be ignored.
func (m Mask) hides(ch jsonv.Change) bool {
	if ch.Kind == jsonv.Changed && sameText(ch, clockText) {
		return true
	}
	path := anyIndex().ReplaceAllString(ch.Path, "[]")
	if whole, known := m[path]; known && !whole && ch.Kind == jsonv.Changed && sameText(ch, digitRuns) {
		return true
	}
	for known, whole := range m {
		rest, under := strings.CutPrefix(path, known)
		if whole && under && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return true
		}
	}
	return false
}

// sameText reports whether two texts differ only in what a pattern matches.
func sameText(ch jsonv.Change, but func() *regexp.Regexp) bool {
	without := func(v jsonv.Value) string { return but().ReplaceAllString(v.Text(), "0") }
	return ch.Want.Kind() == jsonv.KindString && ch.Got.Kind() == jsonv.KindString && without(ch.Want) == without(ch.Got)
}

// Alike reports whether two answers are equal, ignoring parts that change by
// themselves.
func (m Mask) Alike(a, b Reply) bool {
	_, differs := m.Difference(a, b)
	return !differs
}

// Difference returns the first path at which two answers differ, ignoring parts that
// change by themselves.
func (m Mask) Difference(a, b Reply) (path string, differs bool) {
	for _, ch := range jsonv.Diff(WithoutVolatile(a.Envelope), WithoutVolatile(b.Envelope)) {
		if !m.hides(ch) {
			return ch.Path, true
		}
	}
	return "", false
}

// steadiness knows which parts of answers change by themselves.
type steadiness struct {
	run      *Run
	Masks    map[string]Mask
	failures map[string]bool // kinds of error tests already kept
	known    map[string]bool // operations of which this was learned when the run began
	Lag      time.Duration   // how long lists and reads lag behind a change, as far as it was seen
}

// maskOf returns the known mask of an operation.
func (st *steadiness) maskOf(op *catalog.Operation) Mask {
	if st.Masks[op.Name] == nil {
		st.Masks[op.Name] = Mask{}
	}
	return st.Masks[op.Name]
}

// WatchTime calls every operation that only reads three times, the third time more
// than a second later, so that a clock or a counter shows. Those that read something of
// the run come last: it is created then, and the lists show it.
func (st *steadiness) WatchTime() {
	for _, own := range []bool{false, true} {
		var list []Reply
		for _, op := range st.run.Catalog.Operations {
			if op.Category != "READ" || op.Name == "introspect" || st.run.Skipped[op.Name] != "" || st.run.Caller.Ending() != "" || st.run.Builder.readsOwn(op) != own || st.known[op.Name] {
				continue
			}
			if params, why := st.run.Builder.Params(op); why == "" {
				list = append(list, Reply{Tool: op.Tool, Args: jsonv.ObjectOf("operation", op.Name, "params", params)})
			}
		}
		for i, r := range list {
			if list[i] = st.run.Caller.Send(r.Tool, r.Args); list[i].OK() {
				st.repeatCall(st.run.Catalog.Op(r.operation()), list[i])
			}
		}
		read := st.run.Watcher.Reads()
		if len(list) == 0 || !st.run.Caller.Tape.Pause(st.run.Caller.Ctx, st.run.Options.Spread) {
			continue
		}
		for _, first := range list {
			if first.OK() {
				st.repeatCall(st.run.Catalog.Op(first.operation()), first)
			}
		}
		if own {
			st.run.Watcher.effects(read, st.run.Watcher.Reads())
		}
	}
}

// lags are the delays after which the effect of a change is looked for again. They
// add up to more than a second.
var lags = []time.Duration{400 * time.Millisecond, 800 * time.Millisecond}

// Await looks for the effect of a change again and learns how long lists and reads lag
// behind.
func (st *steadiness) Await(shows func() bool) {
	waited := time.Duration(0)
	for _, d := range lags {
		if !st.run.Caller.Tape.Pause(st.run.Caller.Ctx, d) {
			return
		}
		if waited += d; shows() {
			st.Lag = max(st.Lag, waited)
			return
		}
	}
}

// repeatCall repeats a call and learns the differences; it returns false if the call
// fails.
func (st *steadiness) repeatCall(op *catalog.Operation, r Reply) bool {
	repeated := st.run.Caller.Send(r.Tool, r.Args)
	if repeated.OK() {
		st.maskOf(op).Learn(r.Envelope, repeated.Envelope)
	}
	return repeated.OK()
}

// Controls is how many times a difference is checked again.
const Controls = 2

// Differs reports whether an answer differs from the baseline, and still does when
// both calls are repeated.
func (st *steadiness) Differs(op *catalog.Operation, base, r Reply) bool {
	for range Controls {
		if st.maskOf(op).Alike(base, r) || !st.repeatCall(op, base) || !st.repeatCall(op, r) {
			return false
		}
	}
	return !st.maskOf(op).Alike(base, r)
}

// WithoutVolatile returns a value without its volatile members.
func WithoutVolatile(v jsonv.Value) jsonv.Value {
	return v.Map(func(k string, e jsonv.Value) (string, jsonv.Value) {
		if VolatileKey().MatchString(k) {
			return k, jsonv.Value{}
		}
		return k, WithoutVolatile(e)
	})
}

// isoDate matches the format that D 4.7.2 requires of dates: ISO 8601.
var isoDate = evidence.Pattern(`^\d{4}-\d\d-\d\d([Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:?\d\d)?)?$`)

// epoch reports whether a number counts the seconds, or parts of them, since 1970.
func epoch(v jsonv.Value) bool {
	n, whole := v.Int64()
	return v.Kind() == jsonv.KindNumber && whole && n >= 100_000_000
}

// checkDates checks every text and number of an answer whose key suggests a time.
func (st *steadiness) checkDates(op *catalog.Operation, r Reply) {
	if !r.OK() || op.Name == "introspect" {
		return
	}
	var walkDates func(v jsonv.Value, depth int)
	walkDates = func(v jsonv.Value, depth int) {
		if depth > 20 {
			return
		}
		for _, e := range v.Elems() {
			walkDates(e, depth+1)
		}
		for k, e := range v.Members() {
			named := DateName().MatchString(k) || dateOn().MatchString(k) && (epoch(e) || dateLike().MatchString(e.Text()))
			if named && (e.Kind() == jsonv.KindString || epoch(e)) {
				st.run.Rows.Count("dates")
				if key := op.Name + " " + k; !isoDate().MatchString(e.Text()) && !st.failures[key] {
					st.failures[key] = true
					st.run.Rows.Fail("dates.iso", r, "%s returns %s for %s", op.Name, display.Truncate(e.String(), 42), evidence.Quoted(k))
				}
			}
			walkDates(e, depth+1)
		}
	}
	walkDates(r.Data(), 0)
}

// SortedKeys lists a set in order.
func SortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// DateName matches the names of members that hold dates.
var DateName = evidence.Pattern(`(_at|_date|timestamp|[a-z](At|Date|Timestamp))$`)

// dateOn matches the names of members that hold dates if their values look like one,
// and dateLike what does.
var (
	dateOn   = evidence.Pattern(`(_on|[a-z]On)$`)
	dateLike = evidence.Pattern(`^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(\D|$)|\b\d{1,2}:\d\d\b`)
)
