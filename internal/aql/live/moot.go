package live

import (
	"slices"
	"strings"

	"mcptest/internal/aql/evidence"
)

// A row without a case either does not apply to the adapter, which its
// introspection shows, or lacks evidence that somebody can provide.

// settleRows says of the rows of MUST categories that were not looked at why.
func (pr remainder) settleRows() {
	if len(pr.run.catalog.ops) == 0 {
		return
	}
	has := func(category string) bool {
		return slices.ContainsFunc(pr.run.catalog.ops, func(op *liveOp) bool { return op.category == category })
	}
	for id, needs := range map[string]string{"merge": "UPDATE", "input": "UPDATE", "deleted": "DELETE"} {
		t := pr.run.rows.tests[id]
		switch {
		case t.cases > 0 || t.moot != "":
		case !has(needs):
			t.moot = "there is no " + needs + " operation"
		case id == "merge" && !slices.ContainsFunc(pr.run.catalog.ops, pr.run.catalog.takesObject):
			t.moot = noFreeObject
		case pr.run.o.Mode == ModeSafe:
			t.lacking = "mode safe creates and changes nothing; --mode write does"
		}
	}
	pr.settleDates()
	if t := pr.run.rows.tests["values"]; t.cases == 0 && !slices.ContainsFunc(pr.run.catalog.ops, pr.limitsValues) {
		t.moot = "no parameter has a type, a range or a list that a value could be outside of"
	}
}

const noFreeObject = "no resource has a field that takes any object"

func (pr remainder) limitsValues(op *liveOp) bool {
	return pr.run.skipped[op.name] != "" && len(op.params) == 0 || slices.ContainsFunc(op.params, func(p liveParam) bool { return len(pr.run.catalog.wrong(p)) > 0 })
}

// settleDates looks for dates in the introspection when no answer had one.
func (pr remainder) settleDates() {
	t := pr.run.rows.tests["dates"]
	if t.cases > 0 {
		return
	}
	var documented []string
	look := func(name, typ, format string) {
		isDate := dateName().MatchString(name) || slices.Contains([]string{"date", "datetime", "date-time", "timestamp"}, strings.ToLower(typ)) || strings.HasPrefix(format, "date")
		if isDate && !slices.Contains(documented, name) {
			documented = append(documented, name)
		}
	}
	for _, op := range pr.run.catalog.ops {
		for _, p := range op.params {
			look(p.name, p.typ, p.v.Lookup("format").Text())
		}
	}
	for _, name := range sortedKeys(pr.run.catalog.types) {
		for _, f := range pr.run.catalog.types[name].detail.Lookup("fields").Elems() {
			look(f.Lookup("name").Text(), f.Lookup("type").Text(), f.Lookup("format").Text())
		}
	}
	if len(documented) == 0 {
		t.moot = "introspection documents no date, and no answer held one"
		return
	}
	t.lacking = "no answer held " + evidence.Several(documented) + ", which introspection documents; --values names what to read, and --mode write creates things"
}

// remainder states why rows have no cases.
type remainder struct {
	run *collector
}
