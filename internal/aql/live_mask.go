package aql

import (
	"slices"
	"strings"

	"mcptest/internal/jsonv"
)

// Some parts of an answer differ each time: they are found by asking twice,
// and left out of every comparison.

var volatileKey = pattern(`(?i)^(_meta|request_?id|(start|end|next)_?cursor|etag)$|timestamp|duration|elapsed`)

func (c *collector) findVolatile(op *liveOp, a, b reply) {
	if !a.ok() || !b.ok() {
		return
	}
	for _, ch := range jsonv.Diff(withoutVolatile(a.env), withoutVolatile(b.env)) {
		if c.maskedPaths[op.name] == nil {
			c.maskedPaths[op.name] = map[string]bool{}
		}
		c.maskedPaths[op.name][ch.Path] = true
	}
}

// alike says that two answers of an operation are the same but for their
// volatile parts.
func (c *collector) alike(op *liveOp, a, b reply) bool {
	for _, ch := range jsonv.Diff(withoutVolatile(a.env), withoutVolatile(b.env)) {
		if !c.maskedPaths[op.name][ch.Path] {
			return false
		}
	}
	return true
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
		var out object
		for k, e := range v.Members() {
			if !volatileKey().MatchString(k) {
				out = append(out, jsonv.Member{Key: k, Value: withoutVolatile(e)})
			}
		}
		return out.value()
	}
	return v
}

// isoDate is what D 4.7.2 asks of dates: ISO 8601.
var isoDate = pattern(`^\d{4}-\d\d-\d\d([Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:?\d\d)?)?$`)

// checkDates looks at every text of an answer whose key speaks of a time.
func (c *collector) checkDates(op *liveOp, r reply) {
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
			if e.Kind() == jsonv.KindString && (strings.HasSuffix(k, "_at") || strings.HasSuffix(k, "_date") || strings.HasSuffix(k, "timestamp")) {
				c.sees("dates")
				if key := op.name + " " + k; !isoDate().MatchString(e.Text()) && !c.failures[key] {
					c.failures[key] = true
					c.breaks("dates.iso", r, "%s answers %s for %s", op.name, quoted(clip(e.Text(), 40)), quoted(k))
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
