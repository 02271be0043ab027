package live

import (
	"slices"
	"strings"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/jsonv"
)

// A row without a case either does not apply to the adapter, which its
// introspection shows, or lacks evidence that somebody can provide.

var dateName = evidence.Pattern(`(_at|_date|timestamp)$`)

// settleRows says of the rows of MUST categories that were not looked at why.
func (c *collector) settleRows() {
	if len(c.ops) == 0 {
		return
	}
	has := func(category string) bool {
		return slices.ContainsFunc(c.ops, func(op *liveOp) bool { return op.category == category })
	}
	for id, needs := range map[string]string{"merge": "UPDATE", "input": "UPDATE", "deleted": "DELETE"} {
		t := c.tests[id]
		switch {
		case t.cases > 0 || t.moot != "":
		case !has(needs):
			t.moot = "there is no " + needs + " operation"
		case id == "merge" && !slices.ContainsFunc(c.ops, c.takesObject):
			t.moot = noFreeObject
		case c.o.Mode == ModeSafe:
			t.lacking = "mode safe creates and changes nothing; --mode write does"
		}
	}
	c.settleDates()
	if t := c.tests["values"]; t.cases == 0 && !slices.ContainsFunc(c.ops, c.limitsValues) {
		t.moot = "no parameter has a type, a range or a list that a value could be outside of"
	}
}

const noFreeObject = "no resource has a field that takes any object"

// takesObject says that an operation creates something with a nested object.
func (c *collector) takesObject(op *liveOp) bool {
	return op.category == "CREATE" && slices.ContainsFunc(op.params, c.freeObject)
}

func (c *collector) limitsValues(op *liveOp) bool {
	return c.skipped[op.name] != "" && len(op.params) == 0 || slices.ContainsFunc(op.params, func(p liveParam) bool { return len(c.wrong(p)) > 0 })
}

// settleDates looks for dates in the introspection when no answer had one.
func (c *collector) settleDates() {
	t := c.tests["dates"]
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
	for _, op := range c.ops {
		for _, p := range op.params {
			look(p.name, p.typ, p.v.Lookup("format").Text())
		}
	}
	for _, name := range sortedKeys(c.types) {
		for _, f := range c.types[name].detail.Lookup("fields").Elems() {
			look(f.Lookup("name").Text(), f.Lookup("type").Text(), f.Lookup("format").Text())
		}
	}
	if len(documented) == 0 {
		t.moot = "introspection documents no date, and no answer held one"
		return
	}
	t.lacking = "no answer held " + evidence.Several(documented) + ", which introspection documents; --values names what to read, and --mode write creates things"
}

// createdDefaults compares what a create with the required parameters alone
// stored with the documented defaults of the others.
func (c *collector) createdDefaults(op *liveOp) {
	things := c.ledger.things[op.resource]
	y := c.cycleOf(op)
	if y == nil || len(things) == 0 {
		return
	}
	y.thing = things[len(things)-1]
	var back reply
	for _, p := range op.params {
		def, has := p.v.Get("default")
		if !has || p.required || def.Kind() == jsonv.KindNull {
			continue
		}
		if back.n == 0 {
			back = c.readBack(y)
		}
		prefix, thing := y.place(back.env)
		if !back.ok() || thing.Lookup(p.name).IsAbsent() {
			c.leaves("defaults", op.name, p.name, "what was created does not show it")
			continue
		}
		c.e.OptionalDefaults = append(c.e.OptionalDefaults, evidence.DefaultCase{Operation: op.name, Parameter: p.name, Path: prefix + "." + p.name, Expected: def, Response: c.noted(back), Request: c.redact(back.args), Call: back.n})
	}
}
