package guard

import (
	"strings"
	"time"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/live/catalog"
	"mcptest/internal/mcpaql/live/change"
)

// survey reads what the adapter holds, before the run changes anything.
type survey struct {
	values
	lister  *lister
	builder *builder
	watcher *watcher
	steady  *steadiness
}

// reads reports whether an operation only reads items, and is called.
func (s *survey) reads(op *catalog.Operation) bool {
	return op.Category == "READ" && op.Name != "introspect" && s.Gate.Skipped[op.Name] == ""
}

// HarvestLists calls the list operations, or the others that may list something, and
// keeps the identifiers in their answers for other operations.
func (s *survey) HarvestLists(lists bool) {
	for _, op := range s.Catalog.Operations {
		if !s.reads(op) || op.FindIDParam() != nil || (op.Verb == "list") != lists {
			continue
		}
		if op.Verb != "list" && op.Verb != "get" && op.Verb != "search" && !strings.HasSuffix(op.Resource, "s") {
			continue
		}
		params, why := s.builder.BuildParams(op)
		if why != "" {
			continue
		}
		r := s.Caller.Call(op, params)
		if !r.IsOK() {
			continue
		}
		s.lister.First[op.Name] = r
		for _, item := range catalog.FindItems(r.Data(), catalog.ListDepth) {
			if item.Lookup("type").Text() == "text" && item.Lookup("text").Kind() == jsonv.KindString {
				continue // content of MCP, which names nothing
			}
			s.builder.keepHarvest(op.Resource, item)
		}
	}
}

// keepHarvest keeps the first texts and numbers that an item of a resource has for each of its keys.
func (b *builder) keepHarvest(resource string, item jsonv.Value) {
	for k, v := range item.Members() {
		at := [2]string{resource, k}
		isScalar := v.Kind() == jsonv.KindString || v.Kind() == jsonv.KindNumber
		if isScalar && b.harvest[at].IsAbsent() {
			b.harvest[at] = v
		}
	}
}

// WatchTime calls every operation that only reads three times, the third time more
// than a second later, so that a clock or a counter shows. Those that read something of
// the run come last: it is created then, and the lists show it.
func (s *survey) WatchTime() {
	for _, own := range []bool{false, true} {
		list := s.planRereads(own)
		for i, r := range list {
			if list[i] = s.Caller.Send(r.Tool, r.Args); list[i].IsOK() {
				s.steady.repeatCall(s.Catalog.FindOperation(r.operation()), list[i])
			}
		}
		read := s.watcher.CheckReads()
		if len(list) == 0 || !s.Caller.Tape.Pause(s.Caller.Ctx, s.Options.Spread) {
			continue
		}
		for _, first := range list {
			if first.IsOK() {
				s.steady.repeatCall(s.Catalog.FindOperation(first.operation()), first)
			}
		}
		if own {
			s.watcher.reportEffects(read, s.watcher.CheckReads())
		}
	}
}

// planRereads returns the calls whose answers may differ, of operations that read something
// of the run, or of the others.
func (s *survey) planRereads(own bool) (list []Reply) {
	for _, op := range s.Catalog.Operations {
		if !s.reads(op) || s.Caller.ExplainEnding() != "" {
			continue
		}
		if s.builder.readsOwn(op) != own || s.steady.known[op.Name] {
			continue
		}
		params, why := s.builder.BuildParams(op)
		if why == "" {
			list = append(list, Reply{Tool: op.Tool, Args: jsonv.ObjectOf("operation", op.Name, "params", params)})
		}
	}
	return list
}

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

// isoDate matches the format that D 4.7.2 requires of dates: ISO 8601.
var isoDate = evidence.Pattern(`^\d{4}-\d\d-\d\d([Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:?\d\d)?)?$`)

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
