package live

import (
	"strings"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/jsonv"
)

// What an update may and may not touch.

var bookkeeping = evidence.Pattern(`(?i)^(updated|modified|last_|version|etag|revision)`)

// send an update with some input, as the operation documents it.
func (pr cycleProbe) change(y *cycle, input jsonv.Value) reply {
	params := y.thing.naming(y.update, jsonv.Object())
	if y.update.param("input") != nil {
		return pr.run.keeper.attempt(y.update, params.With("input", input))
	}
	for k, v := range input.Members() {
		params = params.With(k, v)
	}
	return pr.run.keeper.attempt(y.update, params)
}

func (pr cycleProbe) updates(y *cycle) {
	if y.update.idParam() == nil && !pr.run.catalog.atMostOne(y.create) {
		return
	}
	pr.run.rows.tests["input"].lacking = ""
	pr.run.rows.sees("input")
	if y.update.param("input") == nil {
		pr.run.rows.breaks("input.documented", reply{}, "%s takes its fields next to the identifier; D 4.5 requires an object called input", y.update.name)
	}
	pr.appendOnly(y)
	before := pr.readBack(y)
	_, thing := y.place(before.env)
	target, value := pr.updateTarget(y, thing)
	if target == "" {
		pr.run.rows.leaves("update", y.update.name, "", "no field was found that could be updated")
		return
	}
	r := pr.change(y, jsonv.Object(jsonv.Member{Key: target, Value: value}))
	if !r.ok() {
		if r.sent() {
			pr.run.rows.leaves("update", y.update.name, target, "the update did not succeed: "+r.brief())
		}
		return
	}
	after := pr.readBack(y)
	if !after.sent() {
		return
	}
	prefix, now := y.place(after.env)
	unsteady := pr.unsteady(y, thing, now, value)
	f := evidence.FieldsCase{Name: y.update.name + " of " + target, ReadResponse: pr.run.caller.noted(after), Call: after.n}
	f.Fields = append(f.Fields, evidence.Field{Path: prefix + "." + target, Value: value})
	for k, v := range thing.Members() {
		if k != target && !unsteady[k] && !bookkeeping().MatchString(k) && !volatileKey().MatchString(k) && !strings.Contains(k, ".") && !evidence.SecretKey(k) {
			f.Fields = append(f.Fields, evidence.Field{Path: prefix + "." + k, Value: v})
		}
	}
	pr.run.e.Updates = append(pr.run.e.Updates, f)
	pr.inputContract(y)
	pr.merges(y)
	pr.readOnly(y)
}

// unsteady are the fields that an update did not set, and that differ after it
// because they change by themselves, or are made from the field that was set.
func (pr cycleProbe) unsteady(y *cycle, before, after, value jsonv.Value) map[string]bool {
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
	_, first := y.place(pr.readBack(y).env)
	pr.run.caller.tape.Pause(pr.run.caller.ctx, pr.run.o.Spread)
	for range controls {
		_, later := y.place(pr.readBack(y).env)
		for k := range out {
			out[k] = out[k] || !jsonv.Equal(first.Lookup(k), later.Lookup(k))
		}
	}
	return out
}

// updateTarget chooses a text field to change.
func (pr cycleProbe) updateTarget(y *cycle, thing jsonv.Value) (string, jsonv.Value) {
	for _, required := range []bool{true, false} {
		for _, p := range y.create.params {
			if p.required != required || pr.run.catalog.jsonKind(p) != "string" || p.sensitive || thing.Lookup(p.name).Kind() != jsonv.KindString {
				continue
			}
			v, err := pr.run.maker.value(y.create, p, "after_"+p.name)
			if err == nil && !jsonv.Equal(v, thing.Lookup(p.name)) {
				return p.name, v
			}
		}
	}
	return "", jsonv.Value{}
}

// inputContract sends updates whose input is missing or wrong (D 4.5.3).
func (pr cycleProbe) inputContract(y *cycle) {
	if y.update.param("input") == nil {
		return
	}
	id := y.thing.naming(y.update, jsonv.Object())
	for _, bad := range []struct {
		what   string
		params jsonv.Value
	}{{"without input", id}, {"with a text as input", id.With("input", jsonv.String("x"))}} {
		if r := pr.run.keeper.attempt(y.update, bad.params); r.ok() {
			pr.run.rows.breaks("input.required", r, "%s %s succeeds", y.update.name, bad.what)
		}
	}
	r := pr.run.keeper.attempt(y.update, id.With("input", jsonv.Object(evidence.TextMember(evidence.ProbeName, "x"))))
	switch {
	case r.ok():
		pr.run.rows.breaks("input.unknown", r, "%s ignores an unknown field of input", y.update.name)
	case r.refused() && r.code() != "VALIDATION_UNKNOWN_FIELD":
		pr.run.rows.breaks("input.code", r, "%s refuses an unknown field of input with another code: %s", y.update.name, r.brief())
	}
}

// merges looks at nested objects, lists and null (D 4.5.1, 4.5.2).
func (pr cycleProbe) merges(y *cycle) {
	t := pr.run.rows.tests["merge"]
	for _, p := range y.create.params {
		if y.params.Lookup(p.name, "zz_one").IsAbsent() {
			continue
		}
		_, thing := y.place(pr.readBack(y).env)
		if thing.Lookup(p.name, "zz_one").IsAbsent() {
			continue // create-read says so
		}
		t.cases++
		r := pr.change(y, jsonv.Object(jsonv.Member{Key: p.name, Value: jsonv.From(map[string]any{"zz_one": map[string]any{"a": 3}, "zz_list": []any{9}, "zz_text": nil})}))
		if !r.ok() {
			if r.sent() {
				pr.run.rows.breaks("merge.accepted", r, "%s refuses a partial object for %s: %s", y.update.name, evidence.Quoted(p.name), r.brief())
			}
			continue
		}
		back := pr.readBack(y)
		if !back.sent() {
			return
		}
		_, now := y.place(back.env)
		got := now.Lookup(p.name)
		if b, _ := got.Lookup("zz_one", "b").Int64(); b != 2 {
			pr.run.rows.breaks("merge.nested", back, "%s: an update of one member of %s removes the others", y.update.name, evidence.Quoted(p.name+".zz_one"))
		}
		if !jsonv.Equal(got.Lookup("zz_list"), jsonv.Array(jsonv.Int(9))) {
			pr.run.rows.breaks("merge.list", back, "%s: a list is not replaced: expected [9], got %s", y.update.name, evidence.Brief(got.Lookup("zz_list")))
		}
		if _, there := got.Get("zz_text"); there {
			pr.run.rows.breaks("merge.null", back, "%s: null does not remove a member", y.update.name)
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
