package probe

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/aql/live/catalog"
	"mcptest/internal/aql/live/guard"
	"mcptest/internal/display"
	"mcptest/internal/jsonv"
)

// Fields that must not be changed.

var readOnlyWords = evidence.Pattern(`(?i)read-?\s?only|immutable|server-assigned|cannot be (changed|updated|modified)`)

// readOnly tries to change fields that the adapter assigned.
func (pr cycleProbe) readOnly(y *guard.Cycle) {
	before := pr.readBack(y)
	_, thing := y.Place(before.Envelope)
	tried := 0
	for name, v := range thing.Members() {
		if tried == 2 || y.Create.Param(name) != nil || v.Kind() != jsonv.KindString || bookkeeping().MatchString(name) || jsonv.Equal(v, y.Thing.Id) {
			continue
		}
		tried++
		other := jsonv.String("2001-01-01T00:00:00Z")
		if n, err := strconv.Atoi(v.Text()); err == nil {
			other = jsonv.String(strconv.Itoa(n + 1))
		}
		r := pr.change(y, jsonv.ObjectOf(name, other))
		if !r.Sent() {
			continue
		}
		response := pr.run.Caller.Noted(r)
		if r.OK() {
			back := pr.readBack(y)
			if !back.Sent() {
				return
			}
			_, now := y.Place(back.Envelope)
			if jsonv.Equal(now.Lookup(name), v) {
				response = response.With("x_note", jsonv.String("the update succeeded and changed nothing"))
			}
		}
		pr.run.Evidence.Constraints = append(pr.run.Evidence.Constraints, evidence.ConstraintCase{Name: y.Update.Name + " of the read-only " + name, Documented: pr.disclosed(y, name), Response: response, Request: pr.run.Caller.Redact(r.Args), Call: r.Number})
	}
}

// disclosed reports whether introspection documents a field as read-only.
func (pr cycleProbe) disclosed(y *guard.Cycle, name string) bool {
	said := func(text string) bool { return readOnlyWords().MatchString(text) && evidence.Names(text, name) }
	if said(y.Update.Detail.Lookup("description").Text()) || slices.ContainsFunc(y.Update.Params, func(p catalog.Parameter) bool {
		return said(p.Doc) || p.Name == name && readOnlyWords().MatchString(p.Doc)
	}) {
		return true
	}
	t := pr.resourceType(y)
	if t == nil {
		return false
	}
	for _, f := range t.Detail.Lookup("fields").Elems() {
		if f.Lookup("name").Text() == name && readOnlyWords().MatchString(f.Lookup("description").Text()) {
			return true
		}
	}
	return false
}

var appendOnlyWords = evidence.Pattern(`(?i)append[- _]?only|immutable log`)

// appendOnly tries to change append-only fields: those that are documented as such,
// and those that the user names.
func (pr cycleProbe) appendOnly(y *guard.Cycle) {
	t := pr.run.Rows.Tests["append-only"]
	if t.Incomplete == nothingUpdated {
		t.NotApplicable = "nothing is documented as append-only"
	}
	_, thing := y.Place(pr.readBack(y).Envelope)
	for name, v := range thing.Members() {
		documented := pr.saidOf(y, name, appendOnlyWords)
		if !documented && !slices.Contains(pr.run.Options.AppendOnly, y.Update.Name+":"+name) || v.Kind() == jsonv.KindNull {
			continue
		}
		t.NotApplicable, t.Incomplete = "", "no update of what is append-only was answered"
		other := jsonv.String(catalog.Marker(pr.run.Options.RunID) + "rewritten")
		if v.Kind() != jsonv.KindString {
			other = jsonv.Array()
		}
		r := pr.change(y, jsonv.ObjectOf(name, other))
		if !r.Sent() {
			continue
		}
		pr.run.Rows.Count("append-only")
		response := pr.run.Caller.Noted(r)
		if r.OK() {
			back := pr.readBack(y)
			if !back.Sent() {
				return
			}
			_, now := y.Place(back.Envelope)
			if kept := jsonv.Equal(now.Lookup(name), v); kept {
				response = response.With("x_note", jsonv.String("the update succeeded and changed nothing"))
				pr.run.Rows.Fail("append-only.silent", r, "%s takes a change of the append-only %s, and leaves it as it was", y.Update.Name, evidence.Quoted(display.Truncate(name, 60)))
			} else {
				pr.run.Rows.Fail("append-only.refused", r, "%s changes the append-only %s", y.Update.Name, evidence.Quoted(display.Truncate(name, 60)))
			}
		} else if !appendOnlyWords().MatchString(r.Message()) {
			pr.run.Rows.Fail("append-only.says", r, "%s refuses to change %s and does not say that it is append-only: %s", y.Update.Name, evidence.Quoted(display.Truncate(name, 60)), r.Brief())
		}
		pr.run.Evidence.Constraints = append(pr.run.Evidence.Constraints, evidence.ConstraintCase{Name: y.Update.Name + " of the append-only " + name, Documented: documented, Response: response, Request: pr.run.Caller.Redact(r.Args), Call: r.Number})
	}
}

// saidOf reports whether the documentation of a field contains certain words.
func (pr cycleProbe) saidOf(y *guard.Cycle, name string, words func() *regexp.Regexp) bool {
	for _, op := range []*catalog.Operation{y.Create, y.Update} {
		if p := op.Param(name); p != nil && words().MatchString(p.Doc) {
			return true
		}
		if text := op.Detail.Lookup("description").Text(); words().MatchString(text) && evidence.Names(text, name) {
			return true
		}
	}
	if t := pr.resourceType(y); t != nil {
		for _, f := range t.Detail.Lookup("fields").Elems() {
			if f.Lookup("name").Text() == name && words().MatchString(f.Lookup("description").Text()) {
				return true
			}
		}
	}
	return false
}

// resourceType returns the type of the resource, as named by the operations that
// return it, or nil if none of them names one.
func (pr cycleProbe) resourceType(y *guard.Cycle) *catalog.NamedType {
	for _, op := range []*catalog.Operation{y.Get, y.Create, y.Update} {
		if op == nil {
			continue
		}
		if t := pr.run.Catalog.Types[strings.ToLower(op.Detail.Lookup("returns", "name").Text())]; t != nil && t.Detail.Lookup("fields").Len() > 0 {
			return t
		}
	}
	return nil
}
