package probe

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/live/catalog"
	"mcptest/internal/mcpaql/live/change"
	"mcptest/internal/mcpaql/live/guard"
)

// The fields that an update may and may not touch.

var bookkeeping = evidence.Pattern(`(?i)^(updated|modified|last_|version|etag|revision)`)

// sendUpdate sends an update with some input, in the documented form.
func (pr cycleProbe) sendUpdate(y *guard.Cycle, input jsonv.Value) guard.Reply {
	params := y.Thing.AddNaming(y.Update, jsonv.Object())
	if y.Update.FindParam("input") != nil {
		return pr.run.Keeper.Attempt(y.Update, params.With("input", input))
	}
	return pr.run.Keeper.Attempt(y.Update, evidence.Merge(params, input))
}

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
	f := evidence.FieldsCase{Name: y.Update.Name + " of " + target, ReadResponse: pr.run.Caller.RedactAnswer(after), Call: after.Number}
	f.Fields = append(f.Fields, expectStored(after, f.ReadResponse, prefix+"."+target, value))
	for k, v := range thing.Members() {
		if k == target || unsteady[k] || strings.Contains(k, ".") || evidence.IsSecretKey(k) {
			continue
		}
		if !bookkeeping().MatchString(k) && !change.VolatileKey().MatchString(k) {
			f.Fields = append(f.Fields, expectStored(after, f.ReadResponse, prefix+"."+k, v))
		}
	}
	pr.run.Evidence.Updates = append(pr.run.Evidence.Updates, f)
	pr.testInputContract(y)
	pr.testMerges(y)
	pr.readOnly(y)
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
	for _, required := range []bool{true, false} {
		for _, p := range y.Create.Params {
			if p.Required != required || p.Sensitive || pr.run.Catalog.FindJSONKind(p) != "string" {
				continue
			}
			if thing.Lookup(p.Name).Kind() != jsonv.KindString {
				continue
			}
			v, err := pr.run.Maker.MakeValue(y.Create, p, "after_"+p.Name)
			if err == nil && !jsonv.Equal(v, thing.Lookup(p.Name)) {
				return p.Name, v
			}
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
		r := pr.sendUpdate(y, jsonv.ObjectOf(p.Name, jsonv.From(map[string]any{
			"zz_one":  map[string]any{"a": 3},
			"zz_list": []any{9},
			"zz_text": nil,
		})))
		if !r.IsOK() {
			if r.WasSent() {
				pr.run.Rows.Fail("merge.accepted", r,
					"%s refuses a partial object for %s: %s", y.Update.Name, evidence.Quote(p.Name), r.FormatBrief())
			}
			continue
		}
		back := pr.readBack(y)
		if !back.WasSent() {
			return
		}
		_, now := y.Place(back)
		got := now.Lookup(p.Name)
		if b, _ := got.Lookup("zz_one", "b").Int64(); b != 2 {
			pr.run.Rows.Fail("merge.nested", back,
				"%s: an update of one member of %s removes the others", y.Update.Name, evidence.Quote(p.Name+".zz_one"))
		}
		if !jsonv.Equal(got.Lookup("zz_list"), jsonv.Array(jsonv.Int(9))) {
			pr.run.Rows.Fail("merge.list", back,
				"%s: a list is not replaced: expected [9], got %s", y.Update.Name, evidence.FormatBrief(got.Lookup("zz_list")))
		}
		if _, there := got.Get("zz_text"); there {
			pr.run.Rows.Fail("merge.null", back, "%s: null does not remove a member", y.Update.Name)
		}
		return
	}
	t.NotApplicable = ""
	if t.Cases == 0 {
		t.Incomplete, t.NotApplicable = noFreeObject, noFreeObject
	}
}

// Fields that must not be changed.

var readOnlyWords = evidence.Pattern(`(?i)read-?\s?only|immutable|server-assigned|cannot be (changed|updated|modified)`)

// readOnly tries to change fields that the adapter assigned.
func (pr cycleProbe) readOnly(y *guard.Cycle) {
	before := pr.readBack(y)
	_, thing := y.Place(before)
	tried := 0
	for name, v := range thing.Members() {
		if tried == 2 || y.Create.FindParam(name) != nil || v.Kind() != jsonv.KindString {
			continue
		}
		if bookkeeping().MatchString(name) || jsonv.Equal(v, y.Thing.ID) {
			continue
		}
		tried++
		other := jsonv.String("2001-01-01T00:00:00Z")
		if n, err := strconv.Atoi(v.Text()); err == nil {
			other = jsonv.String(strconv.Itoa(n + 1))
		}
		pr.tryForbidden(y, "read-only", name, pr.isSaidOf(y, name, readOnlyWords), v, other)
	}
}

// tryForbidden tries to change a field that must not change, and records the case. kept
// reports whether the update succeeded and changed nothing; heard is false if the outcome
// is not known.
func (pr cycleProbe) tryForbidden(
	y *guard.Cycle, kind, name string, documented bool, v, other jsonv.Value,
) (r guard.Reply, kept, heard bool) {
	if r = pr.sendUpdate(y, jsonv.ObjectOf(name, other)); !r.WasSent() {
		return r, false, false
	}
	response := pr.run.Caller.RedactAnswer(r)
	if r.IsOK() {
		back := pr.readBack(y)
		if !back.WasSent() {
			return r, false, false
		}
		_, now := y.Place(back)
		kept = jsonv.Equal(now.Lookup(name), v)
		if kept && !documented && kind == "read-only" {
			return r, kept, true // nothing says that the field is read-only, and nothing changed
		}
		if kept {
			response = response.With("x_note", jsonv.String("the update succeeded and changed nothing"))
		}
	}
	pr.run.Evidence.Constraints = append(pr.run.Evidence.Constraints, evidence.ConstraintCase{
		Name:       y.Update.Name + " of the " + kind + " " + name,
		Documented: documented,
		Response:   response,
		Request:    pr.run.Caller.Redact(r.Args),
		Call:       r.Number,
	})
	return r, kept, true
}

var appendOnlyWords = evidence.Pattern(`(?i)append[- _]?only|immutable log`)

// appendOnly tries to change append-only fields: those that are documented as such,
// and those that the user names.
func (pr cycleProbe) appendOnly(y *guard.Cycle) {
	t := pr.run.Rows.Tests["append-only"]
	if t.Incomplete == nothingUpdated {
		t.NotApplicable = "nothing is documented as append-only"
	}
	_, thing := y.Place(pr.readBack(y))
	for name, v := range thing.Members() {
		documented := pr.isSaidOf(y, name, appendOnlyWords)
		if !documented && !slices.Contains(pr.run.Options.AppendOnly, y.Update.Name+":"+name) || v.Kind() == jsonv.KindNull {
			continue
		}
		t.NotApplicable, t.Incomplete = "", "no update of append-only data got a response"
		other := jsonv.String(catalog.MakeMarker(pr.run.Options.RunID) + "rewritten")
		if v.Kind() != jsonv.KindString {
			other = jsonv.Array()
		}
		r, kept, heard := pr.tryForbidden(y, "append-only", name, documented, v, other)
		if !heard {
			continue
		}
		pr.run.Rows.Count("append-only")
		shown := evidence.QuoteStart(name, 60)
		switch {
		case kept:
			pr.run.Rows.Fail("append-only.silent", r,
				"%s accepts a change of the append-only %s and ignores it", y.Update.Name, shown)
		case r.IsOK():
			pr.run.Rows.Fail("append-only.refused", r, "%s changes the append-only %s", y.Update.Name, shown)
		case !appendOnlyWords().MatchString(r.Message()):
			pr.run.Rows.Fail("append-only.says", r,
				"%s refuses to change %s and does not state that it is append-only: %s", y.Update.Name, shown, r.FormatBrief())
		}
	}
}

// isSaidOf reports whether the documentation of a field, in an operation or in the type of
// the resource, or a text that names it contains certain words.
func (pr cycleProbe) isSaidOf(y *guard.Cycle, name string, words func() *regexp.Regexp) bool {
	said := func(text string) bool { return words().MatchString(text) && evidence.ContainsName(text, name) }
	for _, op := range []*catalog.Operation{y.Create, y.Update} {
		describes := func(p catalog.Parameter) bool {
			return said(p.Doc) || p.Name == name && words().MatchString(p.Doc)
		}
		if said(op.Detail.Lookup("description").Text()) || slices.ContainsFunc(op.Params, describes) {
			return true
		}
	}
	t := pr.findResourceType(y)
	return t != nil && slices.ContainsFunc(t.Detail.Lookup("fields").List(), func(f jsonv.Value) bool {
		return f.Lookup("name").Text() == name && words().MatchString(f.Lookup("description").Text())
	})
}

// findResourceType returns the type of the resource, as named by the operations that
// return it, or nil if none of them names one.
func (pr cycleProbe) findResourceType(y *guard.Cycle) *catalog.NamedType {
	for _, op := range []*catalog.Operation{y.Get, y.Create, y.Update} {
		if op == nil {
			continue
		}
		t := pr.run.Catalog.Types[strings.ToLower(op.Detail.Lookup("returns", "name").Text())]
		if t != nil && t.Detail.Lookup("fields").Len() > 0 {
			return t
		}
	}
	return nil
}
