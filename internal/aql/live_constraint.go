package aql

import (
	"slices"
	"strconv"
	"strings"

	"mcptest/internal/jsonv"
)

// Fields that nobody may change.

var readOnlyWords = pattern(`(?i)read-?\s?only|immutable|server-assigned|cannot be (changed|updated|modified)`)

// readOnly tries to change what the adapter assigned.
func (c *collector) readOnly(y *cycle) {
	before := c.readBack(y)
	_, thing := y.place(before.env)
	tried := 0
	for name, v := range thing.Members() {
		if tried == 2 || y.create.param(name) != nil || v.Kind() != jsonv.KindString || bookkeeping().MatchString(name) || jsonv.Equal(v, y.id) {
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
			_, now := y.place(c.readBack(y).env)
			if jsonv.Equal(now.Lookup(name), v) {
				response = response.With("x_note", jsonv.String("the update succeeded and changed nothing"))
			}
		}
		c.e.Constraints = append(c.e.Constraints, ConstraintCase{Name: y.update.name + " of the read-only " + name, Documented: c.disclosed(y, name), Response: response, Request: c.redact(r.args), Call: r.n})
	}
}

// disclosed says that introspection calls a field read-only.
func (c *collector) disclosed(y *cycle, name string) bool {
	said := func(text string) bool { return readOnlyWords().MatchString(text) && names(text, name) }
	if said(y.update.detail.Lookup("description").Text()) || slices.ContainsFunc(y.update.params, func(p liveParam) bool {
		return said(p.doc) || p.name == name && readOnlyWords().MatchString(p.doc)
	}) {
		return true
	}
	t := c.types[strings.ToLower(y.get.detail.Lookup("returns", "name").Text())]
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
