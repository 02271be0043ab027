package aql

import (
	"strconv"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/reference"
	"mcptest/internal/mcpaql/rule"
)

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
	last := x.findLastDetails()
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

// findLastDetails returns the position of the last detail of each name: the reference keeps
// details in a map, where a later one replaces an earlier one.
func (j *judgement) findLastDetails() map[string]int {
	last := map[string]int{}
	for i, d := range j.details {
		last[identify(d.Lookup("name"), i)] = i
	}
	return last
}

// checkRequiredParameter checks the cases of one required parameter.
func (x *evaluation) checkRequiredParameter(op, p jsonv.Value, at place) {
	name := p.Lookup("name")
	var cases []int
	if op.Kind() == jsonv.KindString && name.Kind() == jsonv.KindString {
		cases = x.missing[[2]string{op.Text(), name.Text()}]
	}
	if len(cases) == 0 {
		shown := evidence.QuoteStart(reference.FormatText(name), 60)
		x.fail("required.case", at, p, "%s requires %s, and no case leaves it out", reference.FormatText(op), shown)
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
