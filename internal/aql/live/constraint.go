package live

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/display"
	"mcptest/internal/jsonv"
)

// Fields that nobody may change.

var readOnlyWords = evidence.Pattern(`(?i)read-?\s?only|immutable|server-assigned|cannot be (changed|updated|modified)`)

// readOnly tries to change what the adapter assigned.
func (pr cycleProbe) readOnly(y *cycle) {
	before := pr.readBack(y)
	_, thing := y.place(before.env)
	tried := 0
	for name, v := range thing.Members() {
		if tried == 2 || y.create.param(name) != nil || v.Kind() != jsonv.KindString || bookkeeping().MatchString(name) || jsonv.Equal(v, y.thing.id) {
			continue
		}
		tried++
		other := jsonv.String("2001-01-01T00:00:00Z")
		if n, err := strconv.Atoi(v.Text()); err == nil {
			other = jsonv.String(strconv.Itoa(n + 1))
		}
		r := pr.change(y, jsonv.Object(jsonv.Member{Key: name, Value: other}))
		if !r.sent() {
			continue
		}
		response := pr.run.caller.noted(r)
		if r.ok() {
			back := pr.readBack(y)
			if !back.sent() {
				return
			}
			_, now := y.place(back.env)
			if jsonv.Equal(now.Lookup(name), v) {
				response = response.With("x_note", jsonv.String("the update succeeded and changed nothing"))
			}
		}
		pr.run.e.Constraints = append(pr.run.e.Constraints, evidence.ConstraintCase{Name: y.update.name + " of the read-only " + name, Documented: pr.disclosed(y, name), Response: response, Request: pr.run.caller.redact(r.args), Call: r.n})
	}
}

// disclosed says that introspection calls a field read-only.
func (pr cycleProbe) disclosed(y *cycle, name string) bool {
	said := func(text string) bool { return readOnlyWords().MatchString(text) && evidence.Names(text, name) }
	if said(y.update.detail.Lookup("description").Text()) || slices.ContainsFunc(y.update.params, func(p liveParam) bool {
		return said(p.doc) || p.name == name && readOnlyWords().MatchString(p.doc)
	}) {
		return true
	}
	t := pr.resourceType(y)
	if t == nil {
		return false
	}
	for _, f := range t.detail.Lookup("fields").Elems() {
		if f.Lookup("name").Text() == name && readOnlyWords().MatchString(f.Lookup("description").Text()) {
			return true
		}
	}
	return false
}

var appendOnlyWords = evidence.Pattern(`(?i)append[- _]?only|immutable log`)

// appendOnly tries to change what may only be added to: fields that the
// documentation calls so, and those that the user names.
func (pr cycleProbe) appendOnly(y *cycle) {
	t := pr.run.rows.tests["append-only"]
	if t.lacking == nothingUpdated {
		t.moot = "nothing is documented as append-only"
	}
	_, thing := y.place(pr.readBack(y).env)
	for name, v := range thing.Members() {
		documented := pr.saidOf(y, name, appendOnlyWords)
		if !documented && !slices.Contains(pr.run.o.AppendOnly, y.update.name+":"+name) || v.Kind() == jsonv.KindNull {
			continue
		}
		t.moot, t.lacking = "", "no update of what is append-only was answered"
		other := jsonv.String(Marker(pr.run.o.RunID) + "rewritten")
		if v.Kind() != jsonv.KindString {
			other = jsonv.Array()
		}
		r := pr.change(y, jsonv.Object(jsonv.Member{Key: name, Value: other}))
		if !r.sent() {
			continue
		}
		pr.run.rows.sees("append-only")
		response := pr.run.caller.noted(r)
		if r.ok() {
			back := pr.readBack(y)
			if !back.sent() {
				return
			}
			_, now := y.place(back.env)
			if kept := jsonv.Equal(now.Lookup(name), v); kept {
				response = response.With("x_note", jsonv.String("the update succeeded and changed nothing"))
				pr.run.rows.breaks("append-only.silent", r, "%s takes a change of the append-only %s, and leaves it as it was", y.update.name, evidence.Quoted(display.Truncate(name, 60)))
			} else {
				pr.run.rows.breaks("append-only.refused", r, "%s changes the append-only %s", y.update.name, evidence.Quoted(display.Truncate(name, 60)))
			}
		} else if !appendOnlyWords().MatchString(r.message()) {
			pr.run.rows.breaks("append-only.says", r, "%s refuses to change %s and does not say that it is append-only: %s", y.update.name, evidence.Quoted(display.Truncate(name, 60)), r.brief())
		}
		pr.run.e.Constraints = append(pr.run.e.Constraints, evidence.ConstraintCase{Name: y.update.name + " of the append-only " + name, Documented: documented, Response: response, Request: pr.run.caller.redact(r.args), Call: r.n})
	}
}

// saidOf says that the documentation of a field has certain words.
func (pr cycleProbe) saidOf(y *cycle, name string, words func() *regexp.Regexp) bool {
	for _, op := range []*liveOp{y.create, y.update} {
		if p := op.param(name); p != nil && words().MatchString(p.doc) {
			return true
		}
		if text := op.detail.Lookup("description").Text(); words().MatchString(text) && evidence.Names(text, name) {
			return true
		}
	}
	if t := pr.resourceType(y); t != nil {
		for _, f := range t.detail.Lookup("fields").Elems() {
			if f.Lookup("name").Text() == name && words().MatchString(f.Lookup("description").Text()) {
				return true
			}
		}
	}
	return false
}

// resourceType is the type of the resource, as the operations that answer it
// name it; nil when none of them does.
func (pr cycleProbe) resourceType(y *cycle) *namedType {
	for _, op := range []*liveOp{y.get, y.create, y.update} {
		if op == nil {
			continue
		}
		if t := pr.run.catalog.types[strings.ToLower(op.detail.Lookup("returns", "name").Text())]; t != nil && t.detail.Lookup("fields").Len() > 0 {
			return t
		}
	}
	return nil
}
