package probe

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/live/catalog"
	"mcptest/internal/mcpaql/live/guard"
)

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
		pr.tryForbidden(y, forbiddenChange{
			kind:         "read-only",
			field:        name,
			isDocumented: pr.isSaidOf(y, name, readOnlyWords),
			from:         v,
			to:           other,
		})
	}
}

// forbiddenChange is an update of a field that must not change.
type forbiddenChange struct {
	kind         string // read-only or append-only
	field        string
	isDocumented bool
	from, to     jsonv.Value
}

// forbiddenOutcome is what came of a forbidden change.
type forbiddenOutcome struct {
	reply   guard.Reply
	isKnown bool
	isKept  bool // the update succeeded and changed nothing
}

// tryForbidden tries to change a field that must not change, and records the case.
func (pr cycleProbe) tryForbidden(y *guard.Cycle, c forbiddenChange) forbiddenOutcome {
	r := pr.sendUpdate(y, jsonv.ObjectOf(c.field, c.to))
	if !r.WasSent() {
		return forbiddenOutcome{reply: r}
	}
	out := forbiddenOutcome{reply: r, isKnown: true}
	response := pr.run.Caller.RedactAnswer(r)
	if r.IsOK() {
		back := pr.readBack(y)
		if !back.WasSent() {
			return forbiddenOutcome{reply: r}
		}
		_, now := y.Place(back)
		out.isKept = jsonv.Equal(now.Lookup(c.field), c.from)
	}
	if out.isKept {
		if !c.isDocumented && c.kind == "read-only" {
			return out // nothing says that the field is read-only, and nothing changed
		}
		response = response.With("x_note", jsonv.String("the update succeeded and changed nothing"))
	}
	pr.run.Evidence.Constraints = append(pr.run.Evidence.Constraints, evidence.ConstraintCase{
		Name:       y.Update.Name + " of the " + c.kind + " " + c.field,
		Documented: c.isDocumented,
		Response:   response,
		Request:    pr.run.Caller.Redact(r.Args),
		Call:       r.Number,
	})
	return out
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
		isDocumented := pr.isSaidOf(y, name, appendOnlyWords)
		isNamed := slices.Contains(pr.run.Options.AppendOnly, y.Update.Name+":"+name)
		if v.Kind() == jsonv.KindNull || !isDocumented && !isNamed {
			continue
		}
		t.NotApplicable, t.Incomplete = "", "no update of append-only data got a response"
		other := jsonv.String(catalog.MakeMarker(pr.run.Options.RunID) + "rewritten")
		if v.Kind() != jsonv.KindString {
			other = jsonv.Array()
		}
		out := pr.tryForbidden(y, forbiddenChange{
			kind:         "append-only",
			field:        name,
			isDocumented: isDocumented,
			from:         v,
			to:           other,
		})
		if !out.isKnown {
			continue
		}
		pr.run.Rows.Count("append-only")
		r, shown := out.reply, evidence.QuoteStart(name, 60)
		switch {
		case out.isKept:
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
