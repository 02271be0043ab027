package live

import (
	"strings"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/jsonv"
)

// What an update may and may not touch.

var bookkeeping = evidence.Pattern(`(?i)^(updated|modified|last_|version|etag|revision)`)

// send an update with some input, as the operation documents it.
func (c *collector) change(y *cycle, input jsonv.Value) reply {
	params := y.thing.naming(y.update, jsonv.Object())
	if y.update.param("input") != nil {
		return c.attempt(y.update, params.With("input", input))
	}
	for k, v := range input.Members() {
		params = params.With(k, v)
	}
	return c.attempt(y.update, params)
}

func (c *collector) updates(y *cycle) {
	if y.update.idParam() == nil && !c.atMostOne(y.create) {
		return
	}
	c.tests["input"].lacking = ""
	c.sees("input")
	if y.update.param("input") == nil {
		c.breaks("input.documented", reply{}, "%s takes its fields next to the identifier; D 4.5 requires an object called input", y.update.name)
	}
	c.appendOnly(y)
	before := c.readBack(y)
	_, thing := y.place(before.env)
	target, value := c.updateTarget(y, thing)
	if target == "" {
		c.leaves("update", y.update.name, "", "no field was found that could be updated")
		return
	}
	r := c.change(y, jsonv.Object(jsonv.Member{Key: target, Value: value}))
	if !r.ok() {
		if r.sent() {
			c.leaves("update", y.update.name, target, "the update did not succeed: "+r.brief())
		}
		return
	}
	after := c.readBack(y)
	if !after.sent() {
		return
	}
	prefix, now := y.place(after.env)
	unsteady := c.unsteady(y, thing, now, value)
	f := evidence.FieldsCase{Name: y.update.name + " of " + target, ReadResponse: c.noted(after), Call: after.n}
	f.Fields = append(f.Fields, evidence.Field{Path: prefix + "." + target, Value: value})
	for k, v := range thing.Members() {
		if k != target && !unsteady[k] && !bookkeeping().MatchString(k) && !volatileKey().MatchString(k) && !strings.Contains(k, ".") && !evidence.SecretKey(k) {
			f.Fields = append(f.Fields, evidence.Field{Path: prefix + "." + k, Value: v})
		}
	}
	c.e.Updates = append(c.e.Updates, f)
	c.inputContract(y)
	c.merges(y)
	c.readOnly(y)
}

// unsteady are the fields that an update did not set, and that differ after it
// because they change by themselves, or are made from the field that was set.
func (c *collector) unsteady(y *cycle, before, after, value jsonv.Value) map[string]bool {
	out, differ := map[string]bool{}, false
	for k, v := range before.Members() {
		if now := after.Lookup(k); !jsonv.Equal(v, now) && y.params.Lookup(k).IsAbsent() {
			out[k] = now.Kind() == jsonv.KindString && strings.Contains(now.Text(), value.Text())
			differ = differ || !out[k]
		}
	}
	if !differ {
		return out
	}
	_, first := y.place(c.readBack(y).env)
	c.tape.Pause(c.ctx, c.o.Spread)
	for range controls {
		_, later := y.place(c.readBack(y).env)
		for k := range out {
			out[k] = out[k] || !jsonv.Equal(first.Lookup(k), later.Lookup(k))
		}
	}
	return out
}

// updateTarget chooses a text field to change.
func (c *collector) updateTarget(y *cycle, thing jsonv.Value) (string, jsonv.Value) {
	for _, required := range []bool{true, false} {
		for _, p := range y.create.params {
			if p.required != required || c.jsonKind(p) != "string" || p.sensitive || thing.Lookup(p.name).Kind() != jsonv.KindString {
				continue
			}
			v, err := c.value(y.create, p, "after_"+p.name)
			if err == nil && !jsonv.Equal(v, thing.Lookup(p.name)) {
				return p.name, v
			}
		}
	}
	return "", jsonv.Value{}
}

// inputContract sends updates whose input is missing or wrong (D 4.5.3).
func (c *collector) inputContract(y *cycle) {
	if y.update.param("input") == nil {
		return
	}
	id := y.thing.naming(y.update, jsonv.Object())
	for _, bad := range []struct {
		what   string
		params jsonv.Value
	}{{"without input", id}, {"with a text as input", id.With("input", jsonv.String("x"))}} {
		if r := c.attempt(y.update, bad.params); r.ok() {
			c.breaks("input.required", r, "%s %s succeeds", y.update.name, bad.what)
		}
	}
	r := c.attempt(y.update, id.With("input", jsonv.Object(evidence.TextMember(evidence.ProbeName, "x"))))
	switch {
	case r.ok():
		c.breaks("input.unknown", r, "%s ignores an unknown field of input", y.update.name)
	case r.refused() && r.code() != "VALIDATION_UNKNOWN_FIELD":
		c.breaks("input.code", r, "%s refuses an unknown field of input with another code: %s", y.update.name, r.brief())
	}
}

// merges looks at nested objects, lists and null (D 4.5.1, 4.5.2).
func (c *collector) merges(y *cycle) {
	t := c.tests["merge"]
	for _, p := range y.create.params {
		if y.params.Lookup(p.name, "zz_one").IsAbsent() {
			continue
		}
		_, thing := y.place(c.readBack(y).env)
		if thing.Lookup(p.name, "zz_one").IsAbsent() {
			continue // create-read says so
		}
		t.cases++
		r := c.change(y, jsonv.Object(jsonv.Member{Key: p.name, Value: jsonv.From(map[string]any{"zz_one": map[string]any{"a": 3}, "zz_list": []any{9}, "zz_text": nil})}))
		if !r.ok() {
			if r.sent() {
				c.breaks("merge.accepted", r, "%s refuses a partial object for %s: %s", y.update.name, evidence.Quoted(p.name), r.brief())
			}
			continue
		}
		back := c.readBack(y)
		if !back.sent() {
			return
		}
		_, now := y.place(back.env)
		got := now.Lookup(p.name)
		if b, _ := got.Lookup("zz_one", "b").Int64(); b != 2 {
			c.breaks("merge.nested", back, "%s: an update of one member of %s removes the others", y.update.name, evidence.Quoted(p.name+".zz_one"))
		}
		if !jsonv.Equal(got.Lookup("zz_list"), jsonv.Array(jsonv.Int(9))) {
			c.breaks("merge.list", back, "%s: a list is not replaced: expected [9], got %s", y.update.name, evidence.Brief(got.Lookup("zz_list")))
		}
		if _, there := got.Get("zz_text"); there {
			c.breaks("merge.null", back, "%s: null does not remove a member", y.update.name)
		}
		return
	}
	if t.cases == 0 {
		t.lacking = noFreeObject
		t.moot = t.lacking
	}
	if t.cases > 0 {
		t.moot = ""
	}
}
