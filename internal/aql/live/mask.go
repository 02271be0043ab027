package live

import (
	"regexp"
	"slices"
	"strings"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/display"
	"mcptest/internal/jsonv"
)

// Some parts of an answer differ each time: they are found by asking again,
// now and more than a second later, and left out of every comparison.

var volatileKey = evidence.Pattern(`(?i)^(_meta|request_?id|(start|end|next)_?cursor|etag)$|timestamp|duration|elapsed`)

// mask is what differs by itself between answers of an operation, by path:
// whole values, or (false) the digits of a text alone.
type mask map[string]bool

// anyIndex stands for every index of a list: what differs in one item may
// differ in the next.
var anyIndex = evidence.Pattern(`\[\d+\]`)

var digitRuns = evidence.Pattern(`\d+`)

// clockText is a date or a time inside a text, which no comparison counts.
var clockText = evidence.Pattern(`\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?|\b\d{1,2}:\d\d(:\d\d(\.\d+)?)?( ?[AaPp][Mm]\b)?`)

// learn notes what differs between two answers to the same request.
func (m mask) learn(a, b jsonv.Value) {
	for _, ch := range jsonv.Diff(withoutVolatile(a), withoutVolatile(b)) {
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

// hides says that a difference is none that counts.
func (m mask) hides(ch jsonv.Change) bool {
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

// sameText says that two texts differ in nothing but what a pattern finds.
func sameText(ch jsonv.Change, but func() *regexp.Regexp) bool {
	without := func(v jsonv.Value) string { return but().ReplaceAllString(v.Text(), "0") }
	return ch.Want.Kind() == jsonv.KindString && ch.Got.Kind() == jsonv.KindString && without(ch.Want) == without(ch.Got)
}

// alike says that two answers are the same but for what differs by itself.
func (m mask) alike(a, b reply) bool {
	_, differs := m.difference(a, b)
	return !differs
}

// difference names what two answers differ in, but for what differs by itself.
func (m mask) difference(a, b reply) (path string, differs bool) {
	for _, ch := range jsonv.Diff(withoutVolatile(a.env), withoutVolatile(b.env)) {
		if !m.hides(ch) {
			return ch.Path, true
		}
	}
	return "", false
}

// maskOf is what is known to differ by itself in the answers of an operation.
func (st *steadiness) maskOf(op *liveOp) mask {
	if st.masks[op.name] == nil {
		st.masks[op.name] = mask{}
	}
	return st.masks[op.name]
}

// watchTime calls every operation that only reads three times, the third time
// more than a second later: a clock, or a counter, differs by then.
func (st *steadiness) watchTime() {
	type watched struct {
		op    *liveOp
		first reply
	}
	var list []watched
	for _, op := range st.run.catalog.ops {
		if op.category != "READ" || op.name == "introspect" || st.run.skipped[op.name] != "" || st.run.caller.ending() != "" {
			continue
		}
		params, why := st.run.builder.params(op)
		if why != "" {
			continue
		}
		if first := st.run.caller.call(op, params); first.ok() && st.again(op, first) {
			list = append(list, watched{op, first})
		}
	}
	st.run.watcher.reads()
	if len(list) == 0 || !st.run.caller.tape.Pause(st.run.caller.ctx, st.run.o.Spread) {
		return
	}
	for _, w := range list {
		st.again(w.op, w.first)
	}
}

// again repeats a call and learns what differs; false when it fails.
func (st *steadiness) again(op *liveOp, r reply) bool {
	repeated := st.run.caller.send(r.tool, r.args)
	if repeated.ok() {
		st.maskOf(op).learn(r.env, repeated.env)
	}
	return repeated.ok()
}

// controls is how often a difference is looked at again.
const controls = 2

// differs says that an answer is another one than the baseline, and goes on
// being so when both calls are repeated.
func (st *steadiness) differs(op *liveOp, base, r reply) bool {
	for range controls {
		if st.maskOf(op).alike(base, r) || !st.again(op, base) || !st.again(op, r) {
			return false
		}
	}
	return !st.maskOf(op).alike(base, r)
}

func withoutVolatile(v jsonv.Value) jsonv.Value {
	switch v.Kind() {
	case jsonv.KindArray:
		out := make([]jsonv.Value, 0, v.Len())
		for _, e := range v.Elems() {
			out = append(out, withoutVolatile(e))
		}
		return jsonv.Array(out...)
	case jsonv.KindObject:
		var out evidence.Object
		for k, e := range v.Members() {
			if !volatileKey().MatchString(k) {
				out = append(out, jsonv.Member{Key: k, Value: withoutVolatile(e)})
			}
		}
		return out.Value()
	}
	return v
}

// isoDate is what D 4.7.2 asks of dates: ISO 8601.
var isoDate = evidence.Pattern(`^\d{4}-\d\d-\d\d([Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:?\d\d)?)?$`)

// epoch says that a number counts the seconds, or parts of them, since 1970.
func epoch(v jsonv.Value) bool {
	n, whole := v.Int64()
	return v.Kind() == jsonv.KindNumber && whole && n >= 100_000_000
}

// checkDates looks at every text and number of an answer whose key speaks of a time.
func (st *steadiness) checkDates(op *liveOp, r reply) {
	if !r.ok() || op.name == "introspect" {
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
			if dateName().MatchString(k) && (e.Kind() == jsonv.KindString || epoch(e)) {
				st.run.rows.sees("dates")
				if key := op.name + " " + k; !isoDate().MatchString(e.Text()) && !st.failures[key] {
					st.failures[key] = true
					st.run.rows.breaks("dates.iso", r, "%s answers %s for %s", op.name, display.Truncate(e.String(), 42), evidence.Quoted(k))
				}
			}
			walkDates(e, depth+1)
		}
	}
	walkDates(r.data(), 0)
}

// sortedKeys lists a set in order.
func sortedKeys[V any](m map[string]V) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// steadiness knows which parts of answers change by themselves.
type steadiness struct {
	run      *collector
	masks    map[string]mask
	failures map[string]bool // kinds of error tests already kept
}

var dateName = evidence.Pattern(`(_at|_date|timestamp)$`)
