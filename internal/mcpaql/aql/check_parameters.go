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
	return evidence.Succeeded(answer) && (j.set == rule.Reference || evidence.WrappedFailure(answer) == "")
}

// identity distinguishes names as the keys of a JavaScript Map do.
func identity(name jsonv.Value, i int) string {
	switch name.Kind() {
	case jsonv.KindArray, jsonv.KindObject:
		return "#" + strconv.Itoa(i)
	}
	return name.Kind().String() + ":" + reference.Text(name)
}

func (x *evaluation) checkRequired() {
	x.incomplete = "there are no operation details"
	last := map[string]int{}
	for i, d := range x.details {
		last[identity(d.Lookup("name"), i)] = i
	}
	demanded := false
	var left []string
	for i, d := range x.details {
		if last[identity(d.Lookup("name"), i)] != i {
			continue
		}
		x.gapUnreadable(i)
		for k, p := range d.Lookup("parameters").Elems() {
			if !reference.Truthy(p.Lookup("required")) {
				continue
			}
			demanded = true
			op, param := d.Lookup("name").Text(), p.Lookup("name").Text()
			if len(x.missing[[2]string{op, param}]) == 0 && x.passedOver("required", op, param) {
				x.lackOf(x.test.ID, op, param, op+" "+param, &left)
				continue
			}
			at := placeOf("introspection", "operation_details").elem(i).member("parameters").elem(k)
			x.requiredOne(d.Lookup("name"), p, at)
		}
	}
	if x.allRead() && !demanded {
		x.notApplicable = "no operation has a required parameter"
	} else if !demanded && len(x.details) > 0 {
		x.needParameters()
	}
	if len(left)+len(x.gaps) > 0 {
		x.incomplete = "the run could leave out none of the required parameters"
		x.observed = display.Count(x.cases, "parameter") + " left out, each refused by name." + leftOut(left)
	}
}

// requiredOne checks the cases of one required parameter.
func (x *evaluation) requiredOne(op, p jsonv.Value, at place) {
	name := p.Lookup("name")
	var cases []int
	if op.Kind() == jsonv.KindString && name.Kind() == jsonv.KindString {
		cases = x.missing[[2]string{op.Text(), name.Text()}]
	}
	if len(cases) == 0 {
		x.fail("required.case", at, p,
			"%s requires %s, and no case leaves it out", reference.Text(op), evidence.Excerpt(reference.Text(name), 60))
		return
	}
	x.cases++
	here := func(i int) place { return placeOf("parameter_tests", "missing_required").elem(i).member("response") }
	x.refusal(x.e.MissingRequired[cases[0]], here(cases[0]))
	if x.set == rule.Reference {
		return
	}
	for _, i := range cases[1:] {
		more := &evaluation{judgement: x.judgement, test: x.test}
		more.refusal(x.e.MissingRequired[i], here(i))
		if heaviest(more.found) == rule.Fail {
			x.fail("required.repeated", here(i), x.e.MissingRequired[i].Response, "%s", more.found[0].Says)
		}
	}
}

// refusal checks the answer to a call without a required parameter.
func (x *evaluation) refusal(c evidence.ParameterCase, at place) {
	if !evidence.Refused(c.Response) {
		x.fail("required.refused", at, c.Response,
			"%s without %s is not refused", c.Operation, evidence.Quoted(c.Parameter))
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
				"the message does not contain %s", evidence.Quoted(c.Parameter))
		}
		return
	}
	switch {
	case evidence.NamesInWords(m.Text(), c.Parameter):
	case evidence.NamedInWords(c.Response.Lookup("error", "details"), c.Parameter):
		x.fail("required.named-details", at.member("error"), c.Response,
			"only the details name %s", evidence.Quoted(c.Parameter))
	default:
		x.fail("required.named-word", at.member("error"), c.Response,
			"the message does not name %s", evidence.Quoted(c.Parameter))
	}
	if code := c.Response.Lookup("error", "code"); code.Text() != "VALIDATION_MISSING_PARAM" {
		x.fail("required.code", at.member("error").member("code"), code, "the code is %s", evidence.Describe(code))
	}
}

func (x *evaluation) unknown() {
	x.incomplete = "parameter_tests.unknown_parameter is empty"
	irrelevantCases := 0
	tried := map[string]bool{}
	for i, c := range x.e.UnknownParameter {
		if x.set == rule.Strict && (!x.knows(c.Operation) || !x.documents(c.Operation, c.Parameter).IsAbsent()) {
			irrelevantCases++
			continue
		}
		x.cases++
		tried[c.Operation] = true
		at := placeOf("parameter_tests", "unknown_parameter").elem(i).member("response")
		if x.set == rule.Strict {
			x.unknownStrict(c, at)
			continue
		}
		m := evidence.Message(c.Response)
		warnings := c.Response.Lookup("warnings")
		switch {
		case evidence.Refused(c.Response) && reference.Truthy(m) && reference.Contains(m, c.Parameter):
		case evidence.Succeeded(c.Response) && warnings.Kind() == jsonv.KindArray && warnings.Len() > 0:
		default:
			x.fail("unknown.explicit", at, c.Response,
				"%s with the unknown %s: neither a refusal with its name nor a warning", c.Operation, evidence.Quoted(c.Parameter))
		}
	}
	if irrelevantCases > 0 {
		x.incomplete = "parameter_tests.unknown_parameter contains no case that counts" +
			irrelevant(irrelevantCases, "the parameter is documented, or nothing lists the operation")
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
		if x.callable(op) {
			all++
		}
		if !tried[op] {
			x.lackOf(x.test.ID, op, evidence.ProbeName, op, &left)
		}
	}
	for op := range listedOperations(x.e) {
		look(op.Lookup("name").Text())
	}
	for _, d := range x.details {
		look(d.Lookup("name").Text())
	}
	cases, operations := display.Count(x.cases, "case"), display.Count(all, "operation")
	x.observed = fmt.Sprintf("%s, of %d of %s.", cases, len(tried), operations) + leftOut(left)
}

func (x *evaluation) unknownStrict(c evidence.ParameterCase, at place) {
	registered := c.Response.Lookup("error", "code").Text() == "VALIDATION_UNKNOWN_PARAM"
	inMessage := evidence.NamesInWords(evidence.Message(c.Response).Text(), c.Parameter)
	switch {
	case evidence.Refused(c.Response) && registered && (inMessage || evidence.NamedInWords(c.Response.Lookup("error", "details"), c.Parameter)):
	case evidence.Refused(c.Response) && inMessage:
		code := c.Response.Lookup("error", "code")
		x.fail("unknown.lenient", at.member("error").member("code"), code,
			"%s is refused, but the code is %s", evidence.Quoted(c.Parameter), evidence.Describe(code))
	case evidence.Refused(c.Response) && registered:
		x.fail("unknown.lenient", at.member("error"), c.Response,
			"refused, but without naming %s", evidence.Quoted(c.Parameter))
	case x.shows(c.Response) && evidence.NamedInWords(c.Response.Lookup("warnings"), c.Parameter):
		x.fail("unknown.lenient", at.member("warnings"), c.Response.Lookup("warnings"),
			"%s is only warned about", evidence.Quoted(c.Parameter))
	default:
		x.fail("unknown.silent", at, c.Response,
			"%s accepted the unknown parameter %s without an error or a warning that names it", c.Operation, evidence.Quoted(c.Parameter))
	}
}

func (x *evaluation) defaults() {
	x.incomplete = "parameter_tests.optional_defaults is empty"
	irrelevantCases := 0
	for i, c := range x.e.OptionalDefaults {
		documented := x.documents(c.Operation, c.Parameter).Lookup("default")
		unrelated := documented.IsAbsent() && x.detailed[c.Operation] || !x.knows(c.Operation)
		if x.set == rule.Strict && (unrelated || evidence.Refused(c.Response) || evidence.WrappedFailure(c.Response) != "") {
			irrelevantCases++
			continue
		}
		x.cases++
		at := placeOf("parameter_tests", "optional_defaults").elem(i)
		got := reference.Walk(c.Response, c.Path)
		shown, path := evidence.Describe(got), evidence.Quoted(c.Path)
		isStated := x.set == rule.Strict && !documented.IsAbsent() && c.Path != evidence.DefaultEquivalent
		if isStated && jsonv.Equal(got, c.Expected) && !jsonv.Equal(got, documented) {
			x.fail("defaults.equal", at, c.Response, "%s %s: documented is %s, and at %s is %s",
				c.Operation, c.Parameter, evidence.Describe(documented), path, shown)
		}
		if !reference.Identical(got, c.Expected) {
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
			irrelevant(irrelevantCases, "no default is documented, or the call did not succeed")
	}
	if x.cases == 0 && x.set == rule.Strict && x.e.IsLive() {
		x.incomplete = x.obstacles(nil)
	}
	if x.cases == 0 && !x.documentsDefault() {
		x.needParameters()
		if x.allRead() {
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

func (x *evaluation) snakeCase() {
	x.incomplete = "there are no operation details"
	for i, d := range x.details {
		x.gapUnreadable(i)
		for k, p := range d.Lookup("parameters").Elems() {
			x.cases++
			name := reference.Text(p.Lookup("name"))
			if evidence.SnakeCase().MatchString(name) {
				continue
			}
			rule := "snake-case.name"
			if d.Lookup("name").Text() == camelCaseReserved {
				rule = "snake-case.reserved"
			}
			at := placeOf("introspection", "operation_details").elem(i).member("parameters").elem(k)
			x.fail(rule, at, p, "%s is not snake_case", evidence.Excerpt(name, 60))
		}
	}
	if x.cases == 0 {
		x.needParameters()
		if x.allRead() {
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
