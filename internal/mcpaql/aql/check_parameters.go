package aql

import (
	"slices"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/reference"
	"mcptest/internal/mcpaql/rule"
)

func (x *evaluation) checkDefaults() {
	x.incomplete = "parameter_tests.optional_defaults is empty"
	irrelevantCases := 0
	for i, c := range x.e.OptionalDefaults {
		documented := x.findDocumentation(c.Operation, c.Parameter).Lookup("default")
		if x.set == rule.Strict && x.isIrrelevantDefault(c, documented) {
			irrelevantCases++
			continue
		}
		x.cases++
		x.checkDefault(c, documented, placeOf("parameter_tests", "optional_defaults").elem(i))
	}
	if irrelevantCases > 0 {
		x.incomplete = "parameter_tests.optional_defaults contains no case that counts" +
			explainIrrelevant(irrelevantCases, "no default is documented, or the call did not succeed")
	}
	if x.cases == 0 && x.set == rule.Strict && x.e.IsLive() {
		x.incomplete = x.describeObstacles(nil)
	}
	if x.cases == 0 && !x.documentsDefault() {
		x.needParameters()
		if x.canReadAll() {
			x.notApplicable = "no parameter has a documented default"
		}
	}
}

// isIrrelevantDefault reports whether the strict rules do not count a case: nothing documents
// the default, or the call did not succeed.
func (j *judgement) isIrrelevantDefault(c evidence.DefaultCase, documented jsonv.Value) bool {
	if !j.knows(c.Operation) || documented.IsAbsent() && j.detailed[c.Operation] {
		return true
	}
	return evidence.IsRefused(c.Response) || evidence.FindWrappedFailure(c.Response) != ""
}

// checkDefault compares the value that an answer shows with the expected one and with the
// documented one.
func (x *evaluation) checkDefault(c evidence.DefaultCase, documented jsonv.Value, at place) {
	got := reference.Walk(c.Response, c.Path)
	shown, path := evidence.Describe(got), evidence.Quote(c.Path)
	isStated := x.set == rule.Strict && !documented.IsAbsent() && c.Path != evidence.DefaultEquivalent
	if isStated && jsonv.Equal(got, c.Expected) && !jsonv.Equal(got, documented) {
		x.fail("defaults.equal", at, c.Response, "%s %s: documented is %s, and at %s is %s",
			c.Operation, c.Parameter, evidence.Describe(documented), path, shown)
	}
	if !reference.IsIdentical(got, c.Expected) {
		x.fail("defaults.observable", at, c.Response, "%s %s: at %s expected %s, got %s",
			c.Operation, c.Parameter, path, evidence.Describe(c.Expected), shown)
	}
	if got.IsAbsent() || !jsonv.Equal(got, c.Expected) {
		x.fail("defaults.equal", at, c.Response, "%s %s: at %s expected %s, got %s",
			c.Operation, c.Parameter, path, evidence.Describe(c.Expected), shown)
	}
}

func (j *judgement) documentsDefault() bool {
	defaulted := func(p jsonv.Value) bool { return !p.Lookup("default").IsAbsent() }
	return slices.ContainsFunc(j.details, func(d jsonv.Value) bool {
		return slices.ContainsFunc(d.Lookup("parameters").List(), defaulted)
	})
}

// camelCaseReserved is the operation for which the specification itself
// prescribes parameter names that are not snake_case (D 8.6.3).
const camelCaseReserved = "record_execution_step"

func (x *evaluation) checkSnakeCase() {
	x.incomplete = "there are no operation details"
	for i, d := range x.details {
		x.addUnreadableGap(i)
		for k, p := range d.Lookup("parameters").Elems() {
			x.cases++
			name := reference.FormatText(p.Lookup("name"))
			if evidence.SnakeCase().MatchString(name) {
				continue
			}
			rule := "snake-case.name"
			if d.Lookup("name").Text() == camelCaseReserved {
				rule = "snake-case.reserved"
			}
			at := placeOf("introspection", "operation_details").elem(i).member("parameters").elem(k)
			x.fail(rule, at, p, "%s is not snake_case", evidence.QuoteStart(name, 60))
		}
	}
	if x.cases == 0 {
		x.needParameters()
		if x.canReadAll() {
			x.notApplicable = "no operation has a parameter"
		}
	}
}
