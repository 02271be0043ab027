package probe

import (
	"slices"
	"strings"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/aql/live/catalog"
	"mcptest/internal/aql/live/guard"
)

// A row without a case either does not apply to the adapter, as its introspection
// shows, or lacks evidence that a user can provide.

// UnseenRows states why rows have no cases.
type UnseenRows struct {
	Run *guard.Run
}

// SettleRows records why rows of MUST categories have no cases.
func (pr UnseenRows) SettleRows() {
	if len(pr.Run.Catalog.Operations) == 0 {
		return
	}
	has := func(category string) bool {
		return slices.ContainsFunc(pr.Run.Catalog.Operations, func(op *catalog.Operation) bool { return op.Category == category })
	}
	for id, needs := range map[string]string{"merge": "UPDATE", "input": "UPDATE", "deleted": "DELETE"} {
		t := pr.Run.Rows.Tests[id]
		switch {
		case t.Cases > 0 || t.NotApplicable != "":
		case !has(needs):
			t.NotApplicable = "there is no " + needs + " operation"
		case id == "merge" && !slices.ContainsFunc(pr.Run.Catalog.Operations, pr.Run.Catalog.TakesObject):
			t.NotApplicable = noFreeObject
		case pr.Run.Options.Mode == guard.ModeSafe:
			t.Incomplete = "mode safe creates and changes nothing; --mode write does"
		}
	}
	pr.settleDates()
	if t := pr.Run.Rows.Tests["values"]; t.Cases == 0 && !slices.ContainsFunc(pr.Run.Catalog.Operations, pr.limitsValues) {
		t.NotApplicable = "no parameter has a type, a range or a list that a value could be outside of"
	}
}

const noFreeObject = "no resource has a field that takes any object"

func (pr UnseenRows) limitsValues(op *catalog.Operation) bool {
	return pr.Run.Skipped[op.Name] != "" && len(op.Params) == 0 || slices.ContainsFunc(op.Params, func(p catalog.Parameter) bool { return len(pr.Run.Catalog.Wrong(p)) > 0 })
}

// settleDates searches the introspection for dates when no answer contained one.
func (pr UnseenRows) settleDates() {
	t := pr.Run.Rows.Tests["dates"]
	if t.Cases > 0 {
		return
	}
	var documented []string
	look := func(name, typ, format string) {
		isDate := guard.DateName().MatchString(name) || slices.Contains([]string{"date", "datetime", "date-time", "timestamp"}, strings.ToLower(typ)) || strings.HasPrefix(format, "date")
		if isDate && !slices.Contains(documented, name) {
			documented = append(documented, name)
		}
	}
	for _, op := range pr.Run.Catalog.Operations {
		for _, p := range op.Params {
			look(p.Name, p.Type, p.Schema.Lookup("format").Text())
		}
	}
	for _, name := range guard.SortedKeys(pr.Run.Catalog.Types) {
		for _, f := range pr.Run.Catalog.Types[name].Detail.Lookup("fields").Elems() {
			look(f.Lookup("name").Text(), f.Lookup("type").Text(), f.Lookup("format").Text())
		}
	}
	if len(documented) == 0 {
		t.NotApplicable = "introspection documents no date, and no answer held one"
		return
	}
	t.Incomplete = "no answer held " + evidence.Several(documented) + ", which introspection documents; --values names what to read, and --mode write creates things"
}
