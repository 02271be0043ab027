package aql

import (
	"strings"

	"mcptest/internal/jsonv"
)

// roundTrips creates, reads, updates and deletes one thing of each kind.
func (c *collector) roundTrips() {
	for _, id := range []string{"merge", "input", "deleted"} {
		c.tests[id].lacking = "nothing could be created, read and updated"
	}
	n := 0
	for _, op := range c.ops {
		if op.category == "CREATE" && op.verb == "create" && c.skipped[op.name] == "" {
			c.roundTrip(op)
			n++
		}
	}
	if n == 0 {
		c.tests["merge"].lacking += " in mode " + c.o.Mode
	}
}

// cycle is one thing on its way through the operations.
type cycle struct {
	create, get, update, remove *liveOp
	params                      jsonv.Value
	id                          jsonv.Value
	read                        reply
}

func (c *collector) roundTrip(create *liveOp) {
	y := &cycle{create: create, get: c.partner("get", "READ", create.resource), update: c.partner("update", "UPDATE", create.resource), remove: c.remover(create)}
	if y.get == nil || y.get.idParam() == nil || c.skipped[y.get.name] != "" {
		c.leaves("create-read", create.name, "", "there is no operation that reads what it creates")
		return
	}
	y.params = jsonv.Object()
	for _, p := range create.params {
		v, err := c.filled(create, p)
		switch {
		case err == nil:
			y.params = y.params.With(p.name, v)
		case p.required:
			c.leaves("create-read", create.name, p.name, err.Error())
			return
		}
	}
	made := c.attempt(create, y.params)
	things := c.created[create.resource]
	if !made.ok() || len(things) == 0 {
		if made.sent() {
			c.leaves("create-read", create.name, "", "it did not succeed with every documented parameter: "+made.brief())
		}
		return
	}
	y.id = things[len(things)-1].id
	y.read = c.readBack(y)
	c.compareCreated(y)
	if y.update != nil && c.skipped[y.update.name] == "" && y.read.ok() {
		c.updates(y)
	}
	if y.remove != nil && c.skipped[y.remove.name] == "" {
		c.removes(y)
	}
}

// filled makes a value that shows: an object gets members, a list an
// element, so that there is something to keep.
func (c *collector) filled(op *liveOp, p liveParam) (jsonv.Value, error) {
	v, err := c.value(op, p, "cycle_"+p.name)
	if err != nil || !c.o.Values.Lookup(op.name, p.name).IsAbsent() {
		return v, err
	}
	if v.Kind() == jsonv.KindObject && v.Len() == 0 && c.freeObject(p) {
		return jsonv.From(map[string]any{"zz_one": map[string]any{"a": 1, "b": 2}, "zz_list": []any{1, 2}, "zz_text": "x"}), nil
	}
	return v, nil
}

// freeObject says that an object's members are not prescribed.
func (c *collector) freeObject(p liveParam) bool {
	return basicKind(parseType(p.typ).name) == "object" && p.v.Lookup("properties").IsAbsent()
}

func (c *collector) readBack(y *cycle) reply {
	params := c.fresh(y.get).With(y.get.idParam().name, y.id)
	return c.call(y.get, params)
}

// place finds where an answer holds a resource.
func (y *cycle) place(env jsonv.Value) (prefix string, thing jsonv.Value) {
	data := env.Lookup("data")
	for _, at := range []string{y.create.resource, "item", "resource", "result"} {
		if v := data.Lookup(at); v.Kind() == jsonv.KindObject {
			return "data." + at, v
		}
	}
	return "data", data
}

func (c *collector) compareCreated(y *cycle) {
	prefix, _ := y.place(y.read.env)
	f := FieldsCase{Name: y.create.name + " then " + y.get.name, ReadResponse: c.noted(y.read), Call: y.read.n}
	for name, v := range y.params.Members() {
		if p := y.create.param(name); p.sensitive || secretKey(name) || strings.Contains(name, ".") {
			continue
		}
		f.Fields = append(f.Fields, Field{prefix + "." + name, v})
	}
	c.e.RoundTrips = append(c.e.RoundTrips, f)
}

// removes deletes the thing and reads it again.
func (c *collector) removes(y *cycle) {
	params := c.fresh(y.remove).With(y.remove.idParam().name, y.id)
	r := c.attempt(y.remove, params)
	if !r.ok() {
		return
	}
	c.sees("deleted")
	back := c.readBack(y)
	if back.ok() && back.data().Kind() != jsonv.KindNull {
		c.breaks("deleted.gone", back, "%s still answers what %s removed", y.get.name, y.remove.name)
	}
}
