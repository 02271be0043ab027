package aql

import (
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/rule"
	"mcptest/internal/mcpaql/verdict"
)

func (x *evaluation) checkOperations() {
	x.list(x.e.OperationsList, "operations_list", shapes()["operationList"], "operations")
	data := x.e.OperationsList.Lookup("data")
	if x.cases > 0 && len(x.found) == 0 && data.Lookup("_protocol").IsAbsent() {
		at := placeOf("introspection", "operations_list", "data", "_protocol")
		x.fail("operations.protocol-missing", at, data, "missing")
	}
}

// list checks an introspection answer and its data.
func (x *evaluation) list(answer jsonv.Value, key string, want *objectShape, rules string) {
	at := placeOf("introspection", key)
	x.cases++
	if success, _ := answer.Get("success"); success.Kind() != jsonv.KindBool || !success.Bool() {
		says := "success is " + evidence.Describe(success)
		if answer.Kind() != jsonv.KindObject {
			says = "the response is " + evidence.Describe(answer)
		}
		if x.set == rule.Strict && !answer.Lookup("no_answer").IsAbsent() {
			says = "no response was received: " + display.Truncate(answer.Lookup("no_answer").Text(), 120)
		}
		x.fail(rules+".answer", at, answer, "%s", says)
		return
	}
	data, _ := answer.Get("data")
	var p probe
	if x.set == rule.Strict && rules == "operations" {
		r := evidence.ReadOperations(data)
		for _, says := range r.Odd {
			x.fail("operations.dialect", at.member("data"), data, "%s", says)
		}
		data = r.Value
	}
	want.look(&p, at.member("data"), data, rules+".data")
	x.take(p.found, nil)
	list := data.Lookup(rules)
	if rules == "operations" && x.set == rule.Strict && len(p.found) == 0 && list.Len() == 0 {
		x.cases, x.incomplete = 0, "the list of operations is empty"
	}
	x.observed = display.Count(data.Lookup(rules).Len(), "entry") + ", all of the documented form."
}

// isExtension reports whether a finding concerns a member of a detail that the
// specification does not define there.
func isExtension(f verdict.Finding) bool {
	return strings.HasPrefix(f.Rule, "details.") && strings.HasSuffix(f.Rule, "members")
}

func (x *evaluation) checkDetailPayloads() {
	x.incomplete = "introspection.operation_details is empty"
	x.cases = len(x.e.OperationDetails)
	for i, found := range x.faults {
		for _, says := range x.read[i].Odd {
			x.fail("details.dialect", placeOf("introspection", "operation_details").elem(i), x.e.OperationDetails[i], "%s", says)
		}
		if why := x.read[i].Unreadable; why != "" {
			name := evidence.QuoteStart(x.read[i].Value.Lookup("name").Text(), 60)
			x.fail("details.unreadable", placeOf("introspection", "operation_details").elem(i), x.e.OperationDetails[i],
				"the parameters of %s cannot be read: %s", name, why)
		}
		x.take(found, func(f verdict.Finding) bool { return x.set == rule.Reference || !isExtension(f) })
	}
	if x.set == rule.Strict {
		x.checkDetailNames()
	}
	x.observed = display.Count(x.cases, "detail") + ", all of the documented form."
}

// checkDetailNames compares the details with the list.
func (x *evaluation) checkDetailNames() {
	at := placeOf("introspection", "operation_details")
	detailed, listed := map[string]bool{}, map[string]bool{}
	for i, d := range x.details {
		name := d.Lookup("name")
		if name.Kind() != jsonv.KindString {
			continue
		}
		if detailed[name.Text()] {
			x.fail("details.duplicate", at.elem(i), d, "a second detail of %s", evidence.Quote(name.Text()))
		}
		detailed[name.Text()] = true
	}
	partial := x.e.Live.Lookup("partial").Bool() // details were left out on purpose
	for op, listing := range listOperations(x.e) {
		name := op.Lookup("name").Text()
		if listed[name] {
			x.fail("details.duplicate", listing, op, "%s is listed twice", evidence.Quote(name))
		} else if !detailed[name] && !partial && (len(x.e.OperationDetails) > 0 || x.e.IsLive()) {
			x.fail("details.missing", listing, op, "%s is listed but has no detail", evidence.Quote(name))
		}
		listed[name] = true
	}
	for i, d := range x.details {
		if name := d.Lookup("name"); name.Kind() == jsonv.KindString && !listed[name.Text()] {
			x.fail("details.unlisted", at.elem(i), d,
				"%s has a detail but is not listed", evidence.Quote(name.Text()))
		}
	}
}

func (x *evaluation) checkExtensions() {
	x.incomplete = "introspection.operation_details is empty"
	x.cases = len(x.e.OperationDetails)
	for _, found := range x.faults {
		x.take(found, isExtension)
	}
	x.observed = "None."
}

func (x *evaluation) checkCompleteness() {
	x.incomplete = "accepted_parameters is empty"
	at := placeOf("introspection", "operation_details")
	var left []string
	for i, d := range x.details {
		sound, suffix := x.isSound(x.faults[i]), ""
		if !sound {
			suffix = "-invalid"
		}
		name := d.Lookup("name")
		if !sound && (x.set == rule.Reference || name.Kind() != jsonv.KindString || d.Lookup("parameters").Kind() != jsonv.KindArray) {
			continue
		}
		if len(x.e.Accepted) == 0 && x.set == rule.Strict {
			continue
		}
		if x.set == rule.Strict && (x.hasSkipped(name.Text()) || x.read[i].Unreadable != "") {
			x.noteLack(x.test.ID, name.Text(), "", name.Text(), &left)
			continue
		}
		x.cases++
		x.compare(d, at.elem(i), suffix, &left)
	}
	for _, a := range x.e.Accepted {
		if len(a.Parameters) > 0 && !x.detailed[a.Operation] {
			x.fail("completeness.no-detail", placeOf("accepted_parameters").member(a.Operation), jsonv.Value{},
				"%s accepts parameters and has no detail", evidence.Quote(a.Operation))
		}
	}
	x.observed = display.Count(x.cases, "operation") + " compared: accepted and documented parameters agree." + describeLeftOut(left)
}

// compare compares the parameters that an operation accepted with its detail.
func (x *evaluation) compare(d jsonv.Value, at place, suffix string, left *[]string) {
	name := d.Lookup("name").Text()
	accepted, documented := x.accepted[name], map[string]bool{}
	for k, p := range d.Lookup("parameters").Elems() {
		if n := p.Lookup("name"); n.Kind() == jsonv.KindString {
			documented[n.Text()] = true
			switch {
			case slices.Contains(accepted, n.Text()):
			case x.hasPassedOver("accuracy", name, n.Text()):
				x.noteLack("accuracy", name, n.Text(), name+" "+n.Text(), left)
			default:
				x.fail("completeness.unaccepted"+suffix, at.member("parameters").elem(k), p,
					"%s documents %s, which was not seen to be accepted", name, evidence.Quote(n.Text()))
			}
		}
	}
	for k, a := range accepted {
		if !documented[a] {
			x.fail("completeness.undocumented"+suffix, placeOf("accepted_parameters").member(name).elem(k), d,
				"%s accepts %s, which its detail does not list", name, evidence.Quote(a))
		}
	}
}
