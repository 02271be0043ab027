package evidence

import (
	"mcptest/internal/aql/rule"
	"mcptest/internal/display"
	"mcptest/internal/jsonv"
	"mcptest/internal/source"
)

// live reads x_live, a live run's record of itself. It is part of the skeleton: rows
// are built from it, so a wrong type in it is a mistake and is not silently ignored.
// Unknown members are ignored.
func (r *Reader) live(o jsonv.Value) jsonv.Value {
	live, at := r.Member(o, "", "x_live", jsonv.KindObject, false)
	for _, key := range []string{"tool", "started", "finished", "target", "repeat", "run", "ended"} {
		r.Text(live, at, key, false)
	}
	for _, key := range []string{"tools", "dialect", "modes", "notices", "volatile_paths", "unchecked"} {
		r.Texts(live, at, key)
	}
	for _, key := range []string{"calls", "batch_sent"} {
		r.Integer(live, at, key, 0, false)
	}
	for _, key := range []string{"mcp", "model", "judge"} {
		r.Member(live, at, key, jsonv.KindObject, false)
	}
	r.Flag(live, at, "partial")
	if p := live.Lookup("policy"); p.Kind() != jsonv.KindString { // the mode alone is sufficient
		p, path := r.Member(live, at, "policy", jsonv.KindObject, false)
		r.Text(p, path, "mode", false)
	}
	short, path := r.Member(live, at, "cut_short", jsonv.KindObject, false)
	for key := range short.Members() {
		r.Text(short, path, key, false)
	}
	r.records(live, at, "skipped", "operation", "reason", "detail")
	r.records(live, at, "untested", "test", "operation", "parameter", "reason")
	r.records(live, at, "unasked", "name", "reason")
	r.records(live, at, "cleanup", "operation")
	r.records(live, at, "leftovers", "operation", "reason")
	r.records(live, at, "changed", "operation", "says")
	r.List(live, at, "transcript", jsonv.KindObject, func(c jsonv.Value, at string) { r.Text(c, at, "tool", false) })
	r.List(live, at, "tests", jsonv.KindObject, r.liveTest)
	return live
}

// records reads a list of objects with some texts.
func (r *Reader) records(o jsonv.Value, at, key string, texts ...string) {
	r.List(o, at, key, jsonv.KindObject, func(v jsonv.Value, at string) {
		for _, t := range texts {
			r.Text(v, at, t, false)
		}
	})
}

// liveTest reads the evidence of one live row.
func (r *Reader) liveTest(t jsonv.Value, at string) {
	id := r.Text(t, at, "id", true)
	if test, known := rule.TestByID()[id]; id != "" && !(known && test.Live) {
		r.Problems.Add(source.Warnf(r.Pos(t.Lookup("id")), at+"/id", "no row of a live report is called %q: the entry is ignored", display.Truncate(id, 40)))
	}
	r.Integer(t, at, "cases", 0, false)
	for _, key := range []string{"lacking", "moot", "observed"} {
		r.Text(t, at, key, false)
	}
	r.List(t, at, "findings", jsonv.KindObject, func(f jsonv.Value, at string) {
		name := r.Text(f, at, "rule", true)
		r.Text(f, at, "says", true)
		r.Integer(f, at, "call", 0, false)
		if rule := rule.ByID()[name]; name != "" && (rule == nil || rule.Test != id) {
			r.Problems.Add(source.Warnf(r.Pos(f.Lookup("rule")), at+"/rule", "%q is not a rule of this row: the entry is ignored", display.Truncate(name, 40)))
		}
	})
}
