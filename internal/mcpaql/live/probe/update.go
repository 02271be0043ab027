package probe

import (
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/live/catalog"
	"mcptest/internal/mcpaql/live/change"
	"mcptest/internal/mcpaql/live/guard"
)

func (pr cycleProbe) testUpdates(y *guard.Cycle) {
	if y.Update.FindIDParam() == nil && !pr.run.Catalog.HasAtMostOne(y.Create) {
		return
	}
	pr.run.Rows.Tests["input"].Incomplete = ""
	pr.run.Rows.Count("input")
	if y.Update.FindParam("input") == nil {
		pr.run.Rows.Fail("input.documented", guard.Reply{},
			"%s accepts its fields next to the identifier; D 4.5 requires an object called input", y.Update.Name)
	}
	pr.appendOnly(y)
	before := pr.readBack(y)
	_, thing := y.Place(before)
	target, value := pr.updateTarget(y, thing)
	if target == "" {
		pr.run.Rows.Skip("update", y.Update.Name, "", "no field was found that could be updated")
		return
	}
	r := pr.sendUpdate(y, jsonv.ObjectOf(target, value))
	if !r.IsOK() {
		if r.WasSent() {
			pr.run.Rows.Skip("update", y.Update.Name, target, "the update did not succeed: "+r.FormatBrief())
		}
		return
	}
	after := pr.readAfter(y, func(r guard.Reply) bool {
		_, now := y.Place(r)
		return jsonv.Equal(now.Lookup(target), value)
	})
	if !after.WasSent() {
		return
	}
	prefix, now := y.Place(after)
	unsteady := pr.findUnsteady(y, thing, now, value)
	f := evidence.FieldsCase{
		Name:         y.Update.Name + " of " + target,
		ReadResponse: pr.run.Caller.RedactAnswer(after),
		Call:         after.Number,
	}
	f.Fields = append(f.Fields, expectStored(after, f.ReadResponse, prefix+"."+target, value))
	for k, v := range thing.Members() {
		if k != target && !unsteady[k] && staysEqual(k) {
			f.Fields = append(f.Fields, expectStored(after, f.ReadResponse, prefix+"."+k, v))
		}
	}
	pr.run.Evidence.Updates = append(pr.run.Evidence.Updates, f)
	pr.testInputContract(y)
	pr.testMerges(y)
	pr.readOnly(y)
}

// staysEqual reports whether an update of another field has to leave a field as it is. Keys
// with a dot cannot be named by a path, and secrets are masked.
func staysEqual(key string) bool {
	if strings.Contains(key, ".") || evidence.IsSecretKey(key) {
		return false
	}
	return !bookkeeping().MatchString(key) && !change.VolatileKey().MatchString(key)
}

// findUnsteady returns the fields that an update did not set and that still differ after
// it, because they change by themselves or derive from the field that was set.
func (pr cycleProbe) findUnsteady(y *guard.Cycle, before, after, value jsonv.Value) map[string]bool {
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
	_, first := y.Place(pr.readBack(y))
	pr.run.Caller.Tape.Pause(pr.run.Caller.Ctx, pr.run.Options.Spread)
	for range guard.Controls {
		_, later := y.Place(pr.readBack(y))
		for k := range out {
			out[k] = out[k] || !jsonv.Equal(first.Lookup(k), later.Lookup(k))
		}
	}
	return out
}

// updateTarget chooses a text field to change.
func (pr cycleProbe) updateTarget(y *guard.Cycle, thing jsonv.Value) (string, jsonv.Value) {
	var required, optional []catalog.Parameter
	for _, p := range y.Create.Params {
		if p.Required {
			required = append(required, p)
		} else {
			optional = append(optional, p)
		}
	}
	for _, p := range slices.Concat(required, optional) {
		now := thing.Lookup(p.Name)
		if p.Sensitive || pr.run.Catalog.FindJSONKind(p) != "string" || now.Kind() != jsonv.KindString {
			continue
		}
		v, err := pr.run.Maker.MakeValue(y.Create, p, "after_"+p.Name)
		if err == nil && !jsonv.Equal(v, now) {
			return p.Name, v
		}
	}
	return "", jsonv.Value{}
}

// testInputContract sends updates whose input is missing or wrong (D 4.5.3).
func (pr cycleProbe) testInputContract(y *guard.Cycle) {
	if y.Update.FindParam("input") == nil {
		return
	}
	id := y.Thing.AddNaming(y.Update, jsonv.Object())
	for _, bad := range []struct {
		what   string
		params jsonv.Value
	}{{"without input", id}, {"with a text as input", id.With("input", jsonv.String("x"))}} {
		if r := pr.run.Keeper.Attempt(y.Update, bad.params); r.IsOK() {
			pr.run.Rows.Fail("input.required", r, "%s %s succeeds", y.Update.Name, bad.what)
		}
	}
	r := pr.run.Keeper.Attempt(y.Update, id.With("input", jsonv.ObjectOf(evidence.ProbeName, "x")))
	switch {
	case r.IsOK():
		pr.run.Rows.Fail("input.unknown", r, "%s ignores an unknown field of input", y.Update.Name)
	case r.IsRefused() && r.Code() != "VALIDATION_UNKNOWN_FIELD":
		pr.run.Rows.Fail("input.code", r,
			"%s refuses an unknown field of input with another code: %s", y.Update.Name, r.FormatBrief())
	}
}

// testMerges tests nested objects, lists and null (D 4.5.1, 4.5.2).
func (pr cycleProbe) testMerges(y *guard.Cycle) {
	t := pr.run.Rows.Tests["merge"]
	for _, p := range y.Create.Params {
		if y.Params.Lookup(p.Name, "zz_one").IsAbsent() {
			continue
		}
		if _, thing := y.Place(pr.readBack(y)); thing.Lookup(p.Name, "zz_one").IsAbsent() {
			continue // create-read reports it
		}
		t.Cases++
		if isDone := pr.testMerge(y, p.Name); isDone {
			return
		}
	}
	t.NotApplicable = ""
	if t.Cases == 0 {
		t.Incomplete, t.NotApplicable = noFreeObject, noFreeObject
	}
}

// testMerge updates parts of a free object, the one that MakeFilled generates. It returns
// false if the update was refused, so that another object has to show what happens.
func (pr cycleProbe) testMerge(y *guard.Cycle, name string) bool {
	r := pr.sendUpdate(y, jsonv.ObjectOf(name, jsonv.From(map[string]any{
		"zz_one":  map[string]any{"a": 3},
		"zz_list": []any{9},
		"zz_text": nil,
	})))
	if !r.IsOK() {
		if r.WasSent() {
			pr.run.Rows.Fail("merge.accepted", r,
				"%s refuses a partial object for %s: %s", y.Update.Name, evidence.Quote(name), r.FormatBrief())
		}
		return false
	}
	back := pr.readBack(y)
	if !back.WasSent() {
		return true
	}
	_, now := y.Place(back)
	got := now.Lookup(name)
	if b, _ := got.Lookup("zz_one", "b").Int64(); b != 2 {
		pr.run.Rows.Fail("merge.nested", back,
			"%s: an update of one member of %s removes the others", y.Update.Name, evidence.Quote(name+".zz_one"))
	}
	if list := got.Lookup("zz_list"); !jsonv.Equal(list, jsonv.Array(jsonv.Int(9))) {
		pr.run.Rows.Fail("merge.list", back,
			"%s: a list is not replaced: expected [9], got %s", y.Update.Name, evidence.FormatBrief(list))
	}
	if _, there := got.Get("zz_text"); there {
		pr.run.Rows.Fail("merge.null", back, "%s: null does not remove a member", y.Update.Name)
	}
	return true
}
