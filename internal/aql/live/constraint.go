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
func (c *collector) readOnly(y *cycle) {
	before := c.readBack(y)
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
		r := c.change(y, jsonv.Object(jsonv.Member{Key: name, Value: other}))
		if !r.sent() {
			continue
		}
		response := c.noted(r)
		if r.ok() {
			back := c.readBack(y)
			if !back.sent() {
				return
			}
			_, now := y.place(back.env)
			if jsonv.Equal(now.Lookup(name), v) {
				response = response.With("x_note", jsonv.String("the update succeeded and changed nothing"))
			}
		}
		c.e.Constraints = append(c.e.Constraints, evidence.ConstraintCase{Name: y.update.name + " of the read-only " + name, Documented: c.disclosed(y, name), Response: response, Request: c.redact(r.args), Call: r.n})
	}
}

// disclosed says that introspection calls a field read-only.
func (c *collector) disclosed(y *cycle, name string) bool {
	said := func(text string) bool { return readOnlyWords().MatchString(text) && evidence.Names(text, name) }
	if said(y.update.detail.Lookup("description").Text()) || slices.ContainsFunc(y.update.params, func(p liveParam) bool {
		return said(p.doc) || p.name == name && readOnlyWords().MatchString(p.doc)
	}) {
		return true
	}
	t := c.resourceType(y)
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
func (c *collector) appendOnly(y *cycle) {
	t := c.tests["append-only"]
	if t.lacking == nothingUpdated {
		t.moot = "nothing is documented as append-only"
	}
	_, thing := y.place(c.readBack(y).env)
	for name, v := range thing.Members() {
		documented := c.saidOf(y, name, appendOnlyWords)
		if !documented && !slices.Contains(c.o.AppendOnly, y.update.name+":"+name) || v.Kind() == jsonv.KindNull {
			continue
		}
		t.moot, t.lacking = "", "no update of what is append-only was answered"
		other := jsonv.String(Marker(c.o.RunID) + "rewritten")
		if v.Kind() != jsonv.KindString {
			other = jsonv.Array()
		}
		r := c.change(y, jsonv.Object(jsonv.Member{Key: name, Value: other}))
		if !r.sent() {
			continue
		}
		c.sees("append-only")
		response := c.noted(r)
		if r.ok() {
			back := c.readBack(y)
			if !back.sent() {
				return
			}
			_, now := y.place(back.env)
			if kept := jsonv.Equal(now.Lookup(name), v); kept {
				response = response.With("x_note", jsonv.String("the update succeeded and changed nothing"))
				c.breaks("append-only.silent", r, "%s takes a change of the append-only %s, and leaves it as it was", y.update.name, evidence.Quoted(display.Truncate(name, 60)))
			} else {
				c.breaks("append-only.refused", r, "%s changes the append-only %s", y.update.name, evidence.Quoted(display.Truncate(name, 60)))
			}
		} else if !appendOnlyWords().MatchString(r.message()) {
			c.breaks("append-only.says", r, "%s refuses to change %s and does not say that it is append-only: %s", y.update.name, evidence.Quoted(display.Truncate(name, 60)), r.brief())
		}
		c.e.Constraints = append(c.e.Constraints, evidence.ConstraintCase{Name: y.update.name + " of the append-only " + name, Documented: documented, Response: response, Request: c.redact(r.args), Call: r.n})
	}
}

// saidOf says that the documentation of a field has certain words.
func (c *collector) saidOf(y *cycle, name string, words func() *regexp.Regexp) bool {
	for _, op := range []*liveOp{y.create, y.update} {
		if p := op.param(name); p != nil && words().MatchString(p.doc) {
			return true
		}
		if text := op.detail.Lookup("description").Text(); words().MatchString(text) && evidence.Names(text, name) {
			return true
		}
	}
	if t := c.resourceType(y); t != nil {
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
func (c *collector) resourceType(y *cycle) *namedType {
	for _, op := range []*liveOp{y.get, y.create, y.update} {
		if op == nil {
			continue
		}
		if t := c.types[strings.ToLower(op.detail.Lookup("returns", "name").Text())]; t != nil && t.detail.Lookup("fields").Len() > 0 {
			return t
		}
	}
	return nil
}
