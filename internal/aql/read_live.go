package aql

import (
	"mcptest/internal/display"
	"mcptest/internal/jsonv"
	"mcptest/internal/source"
)

// live reads x_live, what a live run of this program writes about itself. It
// is part of the skeleton: rows are made of it, so that a wrong type in it is
// a mistake and does not silently count for nothing. Members that nobody
// knows are let be.
func (r *reader) live(o jsonv.Value) jsonv.Value {
	live, at := r.member(o, "", "x_live", jsonv.KindObject, false)
	for _, key := range []string{"tool", "started", "finished", "target", "repeat", "run", "ended"} {
		r.text(live, at, key, false)
	}
	for _, key := range []string{"tools", "dialect", "modes", "notices", "volatile_paths", "unchecked"} {
		r.texts(live, at, key)
	}
	for _, key := range []string{"calls", "batch_sent"} {
		r.integer(live, at, key, 0)
	}
	for _, key := range []string{"mcp", "model", "judge"} {
		r.member(live, at, key, jsonv.KindObject, false)
	}
	r.flag(live, at, "partial")
	if p := live.Lookup("policy"); p.Kind() != jsonv.KindString { // a mode alone will do
		p, path := r.member(live, at, "policy", jsonv.KindObject, false)
		r.text(p, path, "mode", false)
	}
	short, path := r.member(live, at, "cut_short", jsonv.KindObject, false)
	for key := range short.Members() {
		r.text(short, path, key, false)
	}
	r.records(live, at, "skipped", "operation", "reason", "detail")
	r.records(live, at, "untested", "test", "operation", "parameter", "reason")
	r.records(live, at, "unasked", "name", "reason")
	r.records(live, at, "cleanup", "operation")
	r.records(live, at, "leftovers", "operation", "reason")
	r.records(live, at, "changed", "operation", "says")
	r.list(live, at, "transcript", jsonv.KindObject, func(c jsonv.Value, at string) { r.text(c, at, "tool", false) })
	r.list(live, at, "tests", jsonv.KindObject, r.liveTest)
	return live
}

// records reads a list of objects with some texts.
func (r *reader) records(o jsonv.Value, at, key string, texts ...string) {
	r.list(o, at, key, jsonv.KindObject, func(v jsonv.Value, at string) {
		for _, t := range texts {
			r.text(v, at, t, false)
		}
	})
}

// liveTest reads what one live row rests on.
func (r *reader) liveTest(t jsonv.Value, at string) {
	id := r.text(t, at, "id", true)
	if test, known := testsByID()[id]; id != "" && !(known && test.Live) {
		r.problems.Add(source.Warnf(r.pos(t.Lookup("id")), at+"/id", "no row of a live report is called %q: the entry is ignored", display.Truncate(id, 40)))
	}
	r.integer(t, at, "cases", 0)
	for _, key := range []string{"lacking", "moot", "observed"} {
		r.text(t, at, key, false)
	}
	r.list(t, at, "findings", jsonv.KindObject, func(f jsonv.Value, at string) {
		name := r.text(f, at, "rule", true)
		r.text(f, at, "says", true)
		r.integer(f, at, "call", 0)
		if rule := rulesByID()[name]; name != "" && (rule == nil || rule.Test != id) {
			r.problems.Add(source.Warnf(r.pos(f.Lookup("rule")), at+"/rule", "%q is not a rule of this row: the entry is ignored", display.Truncate(name, 40)))
		}
	})
}
