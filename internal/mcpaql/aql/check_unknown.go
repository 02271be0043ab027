package aql

import (
	"fmt"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/reference"
	"mcptest/internal/mcpaql/rule"
)

func (x *evaluation) checkUnknown() {
	x.incomplete = "parameter_tests.unknown_parameter is empty"
	irrelevantCases := 0
	tried := map[string]bool{}
	for i, c := range x.e.UnknownParameter {
		isDocumented := !x.findDocumentation(c.Operation, c.Parameter).IsAbsent()
		if x.set == rule.Strict && (!x.knows(c.Operation) || isDocumented) {
			irrelevantCases++
			continue
		}
		x.cases++
		tried[c.Operation] = true
		at := placeOf("parameter_tests", "unknown_parameter").elem(i).member("response")
		if x.set == rule.Strict {
			x.checkUnknownStrict(c, at)
		} else {
			x.checkUnknownReference(c, at)
		}
	}
	if irrelevantCases > 0 {
		x.incomplete = "parameter_tests.unknown_parameter contains no case that counts" +
			explainIrrelevant(irrelevantCases, "the parameter is documented, or nothing lists the operation")
	}
	if x.set == rule.Strict {
		x.findUntried(tried)
	}
}

// checkUnknownReference accepts a refusal whose message contains the name, and any warning.
func (x *evaluation) checkUnknownReference(c evidence.ParameterCase, at place) {
	m := evidence.Message(c.Response)
	isNamed := evidence.IsRefused(c.Response) && reference.IsTruthy(m) && reference.Contains(m, c.Parameter)
	warnings := c.Response.Lookup("warnings")
	isWarned := evidence.IsSuccess(c.Response) && warnings.Kind() == jsonv.KindArray && warnings.Len() > 0
	if !isNamed && !isWarned {
		x.fail("unknown.explicit", at, c.Response,
			"%s with the unknown %s: neither a refusal with its name nor a warning", c.Operation, evidence.Quote(c.Parameter))
	}
}

// findUntried finds the operations without a case of an unknown parameter.
func (x *evaluation) findUntried(tried map[string]bool) {
	var left []string
	seen, all := map[string]bool{}, 0
	look := func(op string) {
		if op == "" || seen[op] {
			return
		}
		seen[op] = true
		if x.canCall(op) {
			all++
		}
		if !tried[op] {
			x.noteLack(x.test.ID, op, evidence.ProbeName, op, &left)
		}
	}
	for op := range listOperations(x.e) {
		look(op.Lookup("name").Text())
	}
	for _, d := range x.details {
		look(d.Lookup("name").Text())
	}
	cases, operations := display.Count(x.cases, "case"), display.Count(all, "operation")
	x.observed = fmt.Sprintf("%s, of %d of %s.", cases, len(tried), operations) + describeLeftOut(left)
}

func (x *evaluation) checkUnknownStrict(c evidence.ParameterCase, at place) {
	code := c.Response.Lookup("error", "code")
	isRefused, isRegistered := evidence.IsRefused(c.Response), code.Text() == "VALIDATION_UNKNOWN_PARAM"
	inMessage := evidence.ContainsNameInWords(evidence.Message(c.Response).Text(), c.Parameter)
	inDetails := evidence.HasNameInWords(c.Response.Lookup("error", "details"), c.Parameter)
	switch {
	case isRefused && isRegistered && (inMessage || inDetails):
	case isRefused && inMessage:
		x.fail("unknown.lenient", at.member("error").member("code"), code,
			"%s is refused, but the code is %s", evidence.Quote(c.Parameter), evidence.Describe(code))
	case isRefused && isRegistered:
		x.fail("unknown.lenient", at.member("error"), c.Response,
			"refused, but without naming %s", evidence.Quote(c.Parameter))
	case x.shows(c.Response) && evidence.HasNameInWords(c.Response.Lookup("warnings"), c.Parameter):
		x.fail("unknown.lenient", at.member("warnings"), c.Response.Lookup("warnings"),
			"%s is only warned about", evidence.Quote(c.Parameter))
	default:
		x.fail("unknown.silent", at, c.Response,
			"%s accepted the unknown parameter %s without an error or a warning that names it", c.Operation, evidence.Quote(c.Parameter))
	}
}
