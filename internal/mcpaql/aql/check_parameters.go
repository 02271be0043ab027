package aql

import (
	"fmt"
	"slices"
	"strconv"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/reference"
	"mcptest/internal/mcpaql/rule"
)

// shows reports whether an answer is a success that is usable as evidence.
func (j *judgement) shows(answer jsonv.Value) bool {
	return evidence.IsSuccess(answer) && (j.set == rule.Reference || evidence.FindWrappedFailure(answer) == "")
}

// identify distinguishes names as the keys of a JavaScript Map do.
func identify(name jsonv.Value, i int) string {
	switch name.Kind() {
	case jsonv.KindArray, jsonv.KindObject:
		return "#" + strconv.Itoa(i)
	}
	return name.Kind().String() + ":" + reference.FormatText(name)
}

func (x *evaluation) checkRequired() {
	x.incomplete = "there are no operation details"
	last := map[string]int{}
	for i, d := range x.details {
		last[identify(d.Lookup("name"), i)] = i
	}
	demanded := false
	var left []string
	for i, d := range x.details {
		if last[identify(d.Lookup("name"), i)] != i {
			continue
		}
		x.addUnreadableGap(i)
		for k, p := range d.Lookup("parameters").Elems() {
			if !reference.IsTruthy(p.Lookup("required")) {
				continue
			}
			demanded = true
			op, param := d.Lookup("name").Text(), p.Lookup("name").Text()
			if len(x.missing[[2]string{op, param}]) == 0 && x.hasPassedOver("required", op, param) {
				x.noteLack(x.test.ID, op, param, op+" "+param, &left)
				continue
			}
			at := placeOf("introspection", "operation_details").elem(i).member("parameters").elem(k)
			x.checkRequiredParameter(d.Lookup("name"), p, at)
		}
	}
	if x.canReadAll() && !demanded {
		x.notApplicable = "no operation has a required parameter"
	} else if !demanded && len(x.details) > 0 {
		x.needParameters()
	}
	if len(left)+len(x.gaps) > 0 {
		x.incomplete = "the run could leave out none of the required parameters"
		x.observed = display.Count(x.cases, "parameter") + " left out, each refused by name." + describeLeftOut(left)
	}
}

// checkRequiredParameter checks the cases of one required parameter.
func (x *evaluation) checkRequiredParameter(op, p jsonv.Value, at place) {
	name := p.Lookup("name")
	var cases []int
	if op.Kind() == jsonv.KindString && name.Kind() == jsonv.KindString {
		cases = x.missing[[2]string{op.Text(), name.Text()}]
	}
	if len(cases) == 0 {
		x.fail("required.case", at, p,
			"%s requires %s, and no case leaves it out", reference.FormatText(op), evidence.QuoteStart(reference.FormatText(name), 60))
		return
	}
	x.cases++
	here := func(i int) place { return placeOf("parameter_tests", "missing_required").elem(i).member("response") }
	x.checkRefusal(x.e.MissingRequired[cases[0]], here(cases[0]))
	if x.set == rule.Reference {
		return
	}
	for _, i := range cases[1:] {
		more := &evaluation{judgement: x.judgement, test: x.test}
		more.checkRefusal(x.e.MissingRequired[i], here(i))
		if findHeaviest(more.found) == rule.Fail {
			x.fail("required.repeated", here(i), x.e.MissingRequired[i].Response, "%s", more.found[0].Says)
		}
	}
}

// checkRefusal checks the answer to a call without a required parameter.
func (x *evaluation) checkRefusal(c evidence.ParameterCase, at place) {
	if !evidence.IsRefused(c.Response) {
		x.fail("required.refused", at, c.Response,
			"%s without %s is not refused", c.Operation, evidence.Quote(c.Parameter))
		return
	}
	m := evidence.Message(c.Response)
	text := c.Response.Lookup("error")
	if x.set == rule.Strict && text.Kind() == jsonv.KindString {
		m = text // a message in the wrong form, which error-form reports
	}
	if x.set == rule.Reference {
		if !reference.Contains(m, c.Parameter) {
			x.fail("required.named", at.member("error"), c.Response,
				"the message does not contain %s", evidence.Quote(c.Parameter))
		}
		return
	}
	switch {
	case evidence.ContainsNameInWords(m.Text(), c.Parameter):
	case evidence.HasNameInWords(c.Response.Lookup("error", "details"), c.Parameter):
		x.fail("required.named-details", at.member("error"), c.Response,
			"only the details name %s", evidence.Quote(c.Parameter))
	default:
		x.fail("required.named-word", at.member("error"), c.Response,
			"the message does not name %s", evidence.Quote(c.Parameter))
	}
	if code := c.Response.Lookup("error", "code"); code.Text() != "VALIDATION_MISSING_PARAM" {
		x.fail("required.code", at.member("error").member("code"), code, "the code is %s", evidence.Describe(code))
	}
}

func (x *evaluation) checkUnknown() {
	x.incomplete = "parameter_tests.unknown_parameter is empty"
	irrelevantCases := 0
	tried := map[string]bool{}
	for i, c := range x.e.UnknownParameter {
		if x.set == rule.Strict && (!x.knows(c.Operation) || !x.findDocumentation(c.Operation, c.Parameter).IsAbsent()) {
			irrelevantCases++
			continue
		}
		x.cases++
		tried[c.Operation] = true
		at := placeOf("parameter_tests", "unknown_parameter").elem(i).member("response")
		if x.set == rule.Strict {
			x.checkUnknownStrict(c, at)
			continue
		}
		m := evidence.Message(c.Response)
		warnings := c.Response.Lookup("warnings")
		switch {
		case evidence.IsRefused(c.Response) && reference.IsTruthy(m) && reference.Contains(m, c.Parameter):
		case evidence.IsSuccess(c.Response) && warnings.Kind() == jsonv.KindArray && warnings.Len() > 0:
		default:
			x.fail("unknown.explicit", at, c.Response,
				"%s with the unknown %s: neither a refusal with its name nor a warning", c.Operation, evidence.Quote(c.Parameter))
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
	registered := c.Response.Lookup("error", "code").Text() == "VALIDATION_UNKNOWN_PARAM"
	inMessage := evidence.ContainsNameInWords(evidence.Message(c.Response).Text(), c.Parameter)
	switch {
	case evidence.IsRefused(c.Response) && registered && (inMessage || evidence.HasNameInWords(c.Response.Lookup("error", "details"), c.Parameter)):
	case evidence.IsRefused(c.Response) && inMessage:
		code := c.Response.Lookup("error", "code")
		x.fail("unknown.lenient", at.member("error").member("code"), code,
			"%s is refused, but the code is %s", evidence.Quote(c.Parameter), evidence.Describe(code))
	case evidence.IsRefused(c.Response) && registered:
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

func (x *evaluation) checkDefaults() {
	x.incomplete = "parameter_tests.optional_defaults is empty"
	irrelevantCases := 0
	for i, c := range x.e.OptionalDefaults {
		documented := x.findDocumentation(c.Operation, c.Parameter).Lookup("default")
		unrelated := documented.IsAbsent() && x.detailed[c.Operation] || !x.knows(c.Operation)
		if x.set == rule.Strict && (unrelated || evidence.IsRefused(c.Response) || evidence.FindWrappedFailure(c.Response) != "") {
			irrelevantCases++
			continue
		}
		x.cases++
		at := placeOf("parameter_tests", "optional_defaults").elem(i)
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

// needParameters makes the check incomplete if details lack the parameters that it reads.
func (x *evaluation) needParameters() {
	if lacking := x.lacksParameters(); lacking != "" {
		x.incomplete = lacking
	}
}
