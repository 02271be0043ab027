package probe

import (
	"strings"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/aql/live/guard"
	"mcptest/internal/jsonv"
)

// The fields that an update may and may not touch.

var bookkeeping = evidence.Pattern(`(?i)^(updated|modified|last_|version|etag|revision)`)

// change sends an update with some input, in the documented form.
func (pr cycleProbe) change(y *guard.Cycle, input jsonv.Value) guard.Reply {
	params := y.Thing.Naming(y.Update, jsonv.Object())
	if y.Update.Param("input") != nil {
		return pr.run.Keeper.Attempt(y.Update, params.With("input", input))
	}
	for k, v := range input.Members() {
		params = params.With(k, v)
	}
	return pr.run.Keeper.Attempt(y.Update, params)
}

func (pr cycleProbe) updates(y *guard.Cycle) {
	if y.Update.IdParam() == nil && !pr.run.Catalog.AtMostOne(y.Create) {
		return
	}
	pr.run.Rows.Tests["input"].Incomplete = ""
	pr.run.Rows.Count("input")
	if y.Update.Param("input") == nil {
		pr.run.Rows.Fail("input.documented", guard.Reply{}, "%s takes its fields next to the identifier; D 4.5 requires an object called input", y.Update.Name)
	}
	pr.appendOnly(y)
	before := pr.readBack(y)
	_, thing := y.Place(before.Envelope)
	target, value := pr.updateTarget(y, thing)
	if target == "" {
		pr.run.Rows.Skip("update", y.Update.Name, "", "no field was found that could be updated")
		return
	}
	r := pr.change(y, jsonv.ObjectOf(target, value))
	if !r.OK() {
		if r.Sent() {
			pr.run.Rows.Skip("update", y.Update.Name, target, "the update did not succeed: "+r.Brief())
		}
		return
	}
	after := pr.readBack(y)
	if !after.Sent() {
		return
	}
	prefix, now := y.Place(after.Envelope)
	unsteady := pr.unsteady(y, thing, now, value)
	f := evidence.FieldsCase{Name: y.Update.Name + " of " + target, ReadResponse: pr.run.Caller.Noted(after), Call: after.Number}
	f.Fields = append(f.Fields, evidence.Field{Path: prefix + "." + target, Value: value})
	for k, v := range thing.Members() {
		if k != target && !unsteady[k] && !bookkeeping().MatchString(k) && !guard.VolatileKey().MatchString(k) && !strings.Contains(k, ".") && !evidence.SecretKey(k) {
			f.Fields = append(f.Fields, evidence.Field{Path: prefix + "." + k, Value: v})
		}
	}
	pr.run.Evidence.Updates = append(pr.run.Evidence.Updates, f)
	pr.inputContract(y)
	pr.merges(y)
	pr.readOnly(y)
}

// unsteady returns the fields that an update did not set and that still differ after
// it, because they change by themselves or derive from the field that was set.
func (pr cycleProbe) unsteady(y *guard.Cycle, before, after, value jsonv.Value) map[string]bool {
	out, differ := map[string]bool{}, false
	for k, v := range before.Members() {
		if now := after.Lookup(k); !jsonv.Equal(v, now) && y.Params.Lookup(k).IsAbsent() {
			out[k] = now.Kind() == jsonv.KindString && strings.Contains(now.Text(), value.Text())
			differ = differ || !out[k]
		}
	}
	if !differ {
		return out
	}
	_, first := y.Place(pr.readBack(y).Envelope)
	pr.run.Caller.Tape.Pause(pr.run.Caller.Ctx, pr.run.Options.Spread)
	for range guard.Controls {
		_, later := y.Place(pr.readBack(y).Envelope)
		for k := range out {
			out[k] = out[k] || !jsonv.Equal(first.Lookup(k), later.Lookup(k))
		}
	}
	return out
}

// updateTarget chooses a text field to change.
func (pr cycleProbe) updateTarget(y *guard.Cycle, thing jsonv.Value) (string, jsonv.Value) {
	for _, required := range []bool{true, false} {
		for _, p := range y.Create.Params {
			if p.Required != required || pr.run.Catalog.JsonKind(p) != "string" || p.Sensitive || thing.Lookup(p.Name).Kind() != jsonv.KindString {
				continue
			}
			v, err := pr.run.Maker.Value(y.Create, p, "after_"+p.Name)
			if err == nil && !jsonv.Equal(v, thing.Lookup(p.Name)) {
				return p.Name, v
			}
		}
	}
	return "", jsonv.Value{}
}

// inputContract sends updates whose input is missing or wrong (D 4.5.3).
func (pr cycleProbe) inputContract(y *guard.Cycle) {
	if y.Update.Param("input") == nil {
		return
	}
	id := y.Thing.Naming(y.Update, jsonv.Object())
	for _, bad := range []struct {
		what   string
		params jsonv.Value
	}{{"without input", id}, {"with a text as input", id.With("input", jsonv.String("x"))}} {
		if r := pr.run.Keeper.Attempt(y.Update, bad.params); r.OK() {
			pr.run.Rows.Fail("input.required", r, "%s %s succeeds", y.Update.Name, bad.what)
		}
	}
	r := pr.run.Keeper.Attempt(y.Update, id.With("input", jsonv.Object(evidence.TextMember(evidence.ProbeName, "x"))))
	switch {
	case r.OK():
		pr.run.Rows.Fail("input.unknown", r, "%s ignores an unknown field of input", y.Update.Name)
	case r.Refused() && r.Code() != "VALIDATION_UNKNOWN_FIELD":
		pr.run.Rows.Fail("input.code", r, "%s refuses an unknown field of input with another code: %s", y.Update.Name, r.Brief())
	}
}

// merges tests nested objects, lists and null (D 4.5.1, 4.5.2).
func (pr cycleProbe) merges(y *guard.Cycle) {
	t := pr.run.Rows.Tests["merge"]
	for _, p := range y.Create.Params {
		if y.Params.Lookup(p.Name, "zz_one").IsAbsent() {
			continue
		}
		_, thing := y.Place(pr.readBack(y).Envelope)
		if thing.Lookup(p.Name, "zz_one").IsAbsent() {
			continue // create-read reports it
		}
		t.Cases++
		r := pr.change(y, jsonv.ObjectOf(p.Name, jsonv.From(map[string]any{"zz_one": map[string]any{"a": 3}, "zz_list": []any{9}, "zz_text": nil})))
		if !r.OK() {
			if r.Sent() {
				pr.run.Rows.Fail("merge.accepted", r, "%s refuses a partial object for %s: %s", y.Update.Name, evidence.Quoted(p.Name), r.Brief())
			}
			continue
		}
		back := pr.readBack(y)
		if !back.Sent() {
			return
		}
		_, now := y.Place(back.Envelope)
		got := now.Lookup(p.Name)
		if b, _ := got.Lookup("zz_one", "b").Int64(); b != 2 {
			pr.run.Rows.Fail("merge.nested", back, "%s: an update of one member of %s removes the others", y.Update.Name, evidence.Quoted(p.Name+".zz_one"))
		}
		if !jsonv.Equal(got.Lookup("zz_list"), jsonv.Array(jsonv.Int(9))) {
			pr.run.Rows.Fail("merge.list", back, "%s: a list is not replaced: expected [9], got %s", y.Update.Name, evidence.Brief(got.Lookup("zz_list")))
		}
		if _, there := got.Get("zz_text"); there {
			pr.run.Rows.Fail("merge.null", back, "%s: null does not remove a member", y.Update.Name)
		}
		return
	}
	if t.Cases == 0 {
		t.Incomplete = noFreeObject
		t.NotApplicable = t.Incomplete
	}
	if t.Cases > 0 {
		t.NotApplicable = ""
	}
}
