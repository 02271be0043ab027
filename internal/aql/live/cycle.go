package live

import (
	"slices"
	"strings"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/jsonv"
)

// nothingUpdated is why no field was tried that may only be added to.
const nothingUpdated = "nothing could be created and updated"

// roundTrips creates, reads, updates and deletes one thing of each kind.
func (c *collector) roundTrips() {
	for _, id := range []string{"merge", "input", "deleted"} {
		c.tests[id].lacking = "nothing could be created, read and updated"
	}
	c.tests["append-only"].lacking = nothingUpdated
	n := 0
	for _, op := range c.ops {
		if op.category != "CREATE" || op.verb != "create" || c.skipped[op.name] != "" {
			continue
		}
		for _, kind := range c.kinds(op, c.remover(op)) {
			c.roundTrip(op, kind)
		}
		n++
	}
	if n == 0 {
		c.tests["merge"].lacking += " in mode " + c.o.Mode
	}
}

// cutRoundTrips excuses the rows of round trips when the run ended before
// they were done.
func (c *collector) cutRoundTrips() {
	if c.ending() != "" {
		c.cutsShort("create-read", "update", "merge", "input", "deleted")
	}
}

// cycle is one thing on its way through the operations.
type cycle struct {
	create, get, update, remove *liveOp // get is nil where only a list tells
	list                        *liveOp
	params                      jsonv.Value
	thing                       createdThing
	read                        reply
}

// cycleOf finds the operations of a resource; nil when nothing reads it.
func (c *collector) cycleOf(create *liveOp) *cycle {
	callable := func(op *liveOp) bool { return op != nil && c.skipped[op.name] == "" }
	y := &cycle{create: create, get: c.partner("get", "READ", create.resource), update: c.partner("update", "UPDATE", create.resource), remove: c.remover(create)}
	if c.atMostOne(create) {
		y.get = c.exact("get", "READ", create.resource)
	} else if y.get != nil && y.get.idParam() == nil {
		y.get = nil
	}
	if !callable(y.get) {
		y.get, y.list = nil, c.partner("list", "READ", create.resource)
	}
	if y.get == nil && !callable(y.list) {
		return nil
	}
	return y
}

func (c *collector) roundTrip(create *liveOp, kind jsonv.Value) {
	y := c.cycleOf(create)
	if y == nil {
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
	for name, v := range kind.Members() {
		y.params = y.params.With(name, v)
	}
	made := c.attempt(create, y.params)
	if strings.HasPrefix(made.code(), "CONFLICT") && c.clear(create, y.remove) {
		made = c.attempt(create, y.params)
	}
	things := c.ledger.things[create.resource]
	if !made.ok() || len(things) == 0 {
		switch {
		case made.ok() && y.get != nil:
			c.compareClaimed(y, made)
		case made.sent():
			c.leaves("create-read", create.name, "", "it did not succeed with every documented parameter: "+made.brief())
		case made.cause != nil:
			c.leaves("create-read", create.name, "", made.cause.Error())
		}
		return
	}
	y.thing = things[len(things)-1]
	if y.read = c.readBack(y); !y.read.sent() {
		return
	}
	c.compareCreated(y)
	if y.update != nil && c.skipped[y.update.name] == "" && y.read.ok() {
		c.updates(y)
	}
	if y.remove != nil && c.skipped[y.remove.name] == "" {
		c.removes(y)
	}
}

// clear removes what the run made of a resource before, where there can be
// only one of it; false when there is nothing to remove.
func (c *collector) clear(create, remove *liveOp) bool {
	things := slices.Clone(c.ledger.things[create.resource])
	if remove == nil {
		return false
	}
	for _, t := range things {
		c.attempt(remove, t.naming(remove, c.fresh(remove)))
	}
	return len(things) > 0
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

// readBack reads the thing: by its own operation, or the page of the list
// that it stands on.
func (c *collector) readBack(y *cycle) reply {
	if y.get != nil {
		return c.call(y.get, y.thing.naming(y.get, c.fresh(y.get)))
	}
	var last reply
	c.pages(y.list, y.thing.naming(y.list, c.fresh(y.list)), func(r reply) bool {
		last = r
		_, thing := y.place(r.env)
		return thing.IsAbsent()
	})
	return last
}

// place finds where an answer holds a resource.
func (y *cycle) place(env jsonv.Value) (prefix string, thing jsonv.Value) {
	data := env.Lookup("data")
	if y.get == nil {
		return locate(data, "data", 2*listDepth, func(v jsonv.Value) bool {
			for _, key := range []string{"id", y.create.resource + "_id", "name", "key", "slug"} {
				if id, ok := v.Get(key); ok && jsonv.Equal(id, y.thing.id) {
					return true
				}
			}
			return false
		})
	}
	for _, at := range []string{y.create.resource, "item", "resource", "result"} {
		if v := data.Lookup(at); v.Kind() == jsonv.KindObject {
			return "data." + at, v
		}
	}
	return "data", data
}

// reader names the operation that the thing is read with.
func (y *cycle) reader() string {
	if y.get != nil {
		return y.get.name
	}
	return y.list.name
}

// compareClaimed reads what the answer to a create names when that is not
// the run's own, and does nothing else to it.
func (c *collector) compareClaimed(y *cycle, made reply) {
	ids := c.namedIDs(y.create, y.params, made)
	if len(ids) == 0 {
		c.leaves("create-read", y.create.name, "", "the answer does not say what was created")
		return
	}
	y.thing = createdThing{id: ids[0], with: c.with(y.create, y.remove, y.params)}
	if y.read = c.readBack(y); y.read.heard() {
		c.compareCreated(y)
	}
}

func (c *collector) compareCreated(y *cycle) {
	prefix, _ := y.place(y.read.env)
	if prefix == "" {
		prefix = "data" // where nothing is, so that the row says so
	}
	f := evidence.FieldsCase{Name: y.create.name + " then " + y.reader(), ReadResponse: c.noted(y.read), Call: y.read.n}
	for name, v := range y.params.Members() {
		if p := y.create.param(name); p.sensitive || evidence.SecretKey(name) || strings.Contains(name, ".") {
			continue
		}
		f.Fields = append(f.Fields, evidence.Field{Path: prefix + "." + name, Value: v})
	}
	c.e.RoundTrips = append(c.e.RoundTrips, f)
}

// removes deletes the thing and reads it again.
func (c *collector) removes(y *cycle) {
	params := y.thing.naming(y.remove, c.fresh(y.remove))
	r := c.attempt(y.remove, params)
	if !r.ok() {
		c.refusedDelete(y.remove, r)
		return
	}
	c.sees("deleted")
	back := c.readBack(y)
	if _, still := y.place(back.env); back.ok() && still.Kind() == jsonv.KindObject {
		c.breaks("deleted.gone", back, "%s still answers what %s removed", y.reader(), y.remove.name)
	}
}
