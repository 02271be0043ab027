package aql

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"mcptest/internal/jsonv"
)

// createdThing is something that the run created.
type createdThing struct{ id jsonv.Value }

var errNoResource = errors.New("nothing of this run is there to name")

// intend tells the journal of a create before it is sent.
func (c *collector) intend(op *liveOp) error {
	if c.o.Journal == nil {
		return nil
	}
	if err := c.o.Journal.Intend(op.name, Marker(c.o.RunID)); err != nil {
		return fmt.Errorf("the journal cannot be kept, so nothing is created: %w", err)
	}
	return nil
}

// keepCreated notes what a create made, so that it is removed again.
func (c *collector) keepCreated(op *liveOp, params jsonv.Value, r reply) {
	id := c.createdID(op, params, r)
	if id.IsAbsent() {
		c.leftovers = append(c.leftovers, jsonv.Object(textMember("operation", op.name), jsonv.Member{Key: "call", Value: jsonv.Int(int64(r.n))},
			textMember("reason", "the answer does not say what was created")))
		return
	}
	c.created[op.resource] = append(c.created[op.resource], createdThing{id})
	if c.o.Journal != nil {
		_ = c.o.Journal.Created(op.name, c.idKey(op), id)
	}
}

// idKey is the parameter by which the resource of an operation is deleted.
func (c *collector) idKey(op *liveOp) string {
	if d := c.partner("delete", "DELETE", op.resource); d != nil && d.idParam() != nil {
		return d.idParam().name
	}
	return "id"
}

// createdID finds the identifier in the answer to a create.
func (c *collector) createdID(op *liveOp, params jsonv.Value, r reply) jsonv.Value {
	key := c.idKey(op)
	data := r.data()
	for _, at := range []jsonv.Value{data, data.Lookup(op.resource), data.Lookup("item"), params} {
		for _, k := range []string{key, "id", op.resource + "_id"} {
			if v := at.Lookup(k); v.Kind() == jsonv.KindString || v.Kind() == jsonv.KindNumber {
				return v
			}
		}
	}
	if data.Kind() == jsonv.KindString || data.Kind() == jsonv.KindNumber {
		return data
	}
	return jsonv.Value{}
}

// own returns the identifier of something that this run created, creating it
// when there is nothing yet.
func (c *collector) own(op *liveOp, p liveParam) (jsonv.Value, error) {
	resource := op.resource
	for res, things := range c.created {
		if len(things) > 0 && sameResource(res, resource) && c.fits(p, things[len(things)-1].id) == "" {
			return things[len(things)-1].id, nil
		}
	}
	create := c.creator(op)
	if create == nil || c.barred(create) != "" {
		return jsonv.Value{}, errNoResource
	}
	params, why := c.params(create)
	if why != "" {
		return jsonv.Value{}, errors.New(why)
	}
	r := c.attempt(create, params)
	if things := c.created[create.resource]; r.ok() && len(things) > 0 {
		return things[len(things)-1].id, nil
	}
	return jsonv.Value{}, errNoResource
}

func (c *collector) forget(op *liveOp, id jsonv.Value) {
	for res, things := range c.created {
		if !sameResource(res, op.resource) {
			continue
		}
		c.created[res] = slices.DeleteFunc(things, func(t createdThing) bool { return jsonv.Equal(t.id, id) })
	}
	if c.o.Journal != nil {
		_ = c.o.Journal.Deleted(c.idKey(op), id)
	}
}

// cleanUpTime is how long the clean-up of a run that was ended may take.
const cleanUpTime = 30 * time.Second

// cleanUp removes what the run created, latest first. It works after the
// run's own context ended.
func (c *collector) cleanUp() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), cleanUpTime)
	defer cancel()
	own := c.ctx
	c.ctx, c.cleaning = ctx, true
	defer func() { c.ctx, c.cleaning = own, false }()
	for _, op := range c.lost {
		// Something may have been created that nobody was told of: it has
		// the run's marker.
		if remove := c.remover(op); remove != nil {
			for _, item := range c.marked(op, []Left{{RunID: c.o.RunID}}) {
				c.created[op.resource] = append(c.created[op.resource], createdThing{id: c.itemID(op, remove, item)})
			}
		}
	}
	c.lost = nil
	for i := len(c.ops) - 1; i >= 0; i-- {
		op := c.ops[i]
		things := c.created[op.resource]
		if op.category != "CREATE" || len(things) == 0 {
			continue
		}
		remove := c.remover(op)
		for k := len(things) - 1; k >= 0; k-- {
			c.removeOne(ctx, op, remove, things[k])
		}
		delete(c.created, op.resource)
	}
}

func (c *collector) removeOne(ctx context.Context, op, remove *liveOp, t createdThing) {
	note := object{textMember("operation", op.name), {Key: "id", Value: t.id}}
	if remove == nil {
		note.set("reason", jsonv.String("there is no operation that deletes it"))
		c.leftovers = append(c.leftovers, note.value())
		return
	}
	params := jsonv.Object()
	for _, p := range remove.params {
		if p.required && p.name != remove.idParam().name {
			if v, err := c.value(remove, p, p.name); err == nil {
				params = params.With(p.name, v)
			}
		}
	}
	var r reply
	for try := range 3 {
		r = c.sendNow(ctx, reply{tool: remove.tool, args: jsonv.Object(textMember("operation", remove.name),
			jsonv.Member{Key: "params", Value: params.With(remove.idParam().name, t.id)})})
		if r.ok() || strings.HasPrefix(r.code(), "NOT_FOUND") || r.budget || try == 2 {
			break
		}
	}
	if r.ok() || strings.HasPrefix(r.code(), "NOT_FOUND") {
		c.cleaned = append(c.cleaned, note.value())
		if c.o.Journal != nil {
			_ = c.o.Journal.Deleted(remove.idParam().name, t.id)
		}
		return
	}
	note.set("reason", jsonv.String(r.brief()))
	c.leftovers = append(c.leftovers, note.value())
}

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
	f := FieldsCase{Name: y.create.name + " then " + y.get.name, ReadResponse: y.read.response(), Call: y.read.n}
	for name, v := range y.params.Members() {
		if p := y.create.param(name); p.sensitive || secretKey(name) || strings.Contains(name, ".") {
			continue
		}
		f.Fields = append(f.Fields, Field{prefix + "." + name, v})
	}
	c.e.RoundTrips = append(c.e.RoundTrips, f)
}

var bookkeeping = regexp.MustCompile(`(?i)^(updated|modified|last_|version|etag|revision)`)

// send an update with some input, as the operation documents it.
func (c *collector) change(y *cycle, input jsonv.Value) reply {
	params := jsonv.Object(jsonv.Member{Key: y.update.idParam().name, Value: y.id})
	if y.update.param("input") != nil {
		return c.attempt(y.update, params.With("input", input))
	}
	for k, v := range input.Members() {
		params = params.With(k, v)
	}
	return c.attempt(y.update, params)
}

func (c *collector) updates(y *cycle) {
	if y.update.idParam() == nil {
		return
	}
	c.tests["input"].lacking = ""
	c.sees("input")
	if y.update.param("input") == nil {
		c.breaks("input.documented", reply{}, "%s takes its fields beside the identifier; D 4.5 asks for an object called input", y.update.name)
	}
	before := c.readBack(y)
	_, thing := y.place(before.env)
	_, again := y.place(c.readBack(y).env)
	target, value := c.updateTarget(y, thing)
	if target == "" {
		c.leaves("update", y.update.name, "", "no field was found that could be updated")
		return
	}
	r := c.change(y, jsonv.Object(jsonv.Member{Key: target, Value: value}))
	if !r.ok() {
		if r.sent() {
			c.leaves("update", y.update.name, target, "the update did not succeed: "+r.brief())
		}
		return
	}
	after := c.readBack(y)
	prefix, _ := y.place(after.env)
	f := FieldsCase{Name: y.update.name + " of " + target, ReadResponse: after.response(), Call: after.n}
	f.Fields = append(f.Fields, Field{prefix + "." + target, value})
	for k, v := range thing.Members() {
		if k != target && jsonv.Equal(v, again.Lookup(k)) && !bookkeeping.MatchString(k) && !volatileKey.MatchString(k) && !strings.Contains(k, ".") && !secretKey(k) {
			f.Fields = append(f.Fields, Field{prefix + "." + k, v})
		}
	}
	c.e.Updates = append(c.e.Updates, f)
	c.inputContract(y)
	c.merges(y)
	c.readOnly(y)
}

// updateTarget chooses a text field to change.
func (c *collector) updateTarget(y *cycle, thing jsonv.Value) (string, jsonv.Value) {
	for _, required := range []bool{true, false} {
		for _, p := range y.create.params {
			if p.required != required || c.jsonKind(p) != "string" || p.sensitive || thing.Lookup(p.name).Kind() != jsonv.KindString {
				continue
			}
			v, err := c.value(y.create, p, "after_"+p.name)
			if err == nil && !jsonv.Equal(v, thing.Lookup(p.name)) {
				return p.name, v
			}
		}
	}
	return "", jsonv.Value{}
}

// inputContract sends updates whose input is missing or wrong (D 4.5.3).
func (c *collector) inputContract(y *cycle) {
	if y.update.param("input") == nil {
		return
	}
	id := jsonv.Object(jsonv.Member{Key: y.update.idParam().name, Value: y.id})
	for _, bad := range []struct {
		what   string
		params jsonv.Value
	}{{"without input", id}, {"with a text as input", id.With("input", jsonv.String("x"))}} {
		if r := c.attempt(y.update, bad.params); r.ok() {
			c.breaks("input.required", r, "%s %s succeeds", y.update.name, bad.what)
		}
	}
	r := c.attempt(y.update, id.With("input", jsonv.Object(textMember(probeName, "x"))))
	switch {
	case r.ok():
		c.breaks("input.unknown", r, "%s ignores an unknown field of input", y.update.name)
	case r.refused() && r.code() != "VALIDATION_UNKNOWN_FIELD":
		c.breaks("input.code", r, "%s refuses an unknown field of input with another code: %s", y.update.name, r.brief())
	}
}

// merges looks at nested objects, lists and null (D 4.5.1, 4.5.2).
func (c *collector) merges(y *cycle) {
	t := c.tests["merge"]
	for _, p := range y.create.params {
		if y.params.Lookup(p.name, "zz_one").IsAbsent() {
			continue
		}
		_, thing := y.place(c.readBack(y).env)
		if thing.Lookup(p.name, "zz_one").IsAbsent() {
			continue // create-read says so
		}
		t.cases++
		r := c.change(y, jsonv.Object(jsonv.Member{Key: p.name, Value: jsonv.From(map[string]any{"zz_one": map[string]any{"a": 3}, "zz_list": []any{9}, "zz_text": nil})}))
		if !r.ok() {
			if r.sent() {
				c.breaks("merge.accepted", r, "%s refuses a partial object for %s: %s", y.update.name, quoted(p.name), r.brief())
			}
			continue
		}
		back := c.readBack(y)
		_, now := y.place(back.env)
		got := now.Lookup(p.name)
		if b, _ := got.Lookup("zz_one", "b").Int64(); b != 2 {
			c.breaks("merge.nested", back, "%s: an update of one member of %s removes the others", y.update.name, quoted(p.name+".zz_one"))
		}
		if !jsonv.Equal(got.Lookup("zz_list"), jsonv.Array(jsonv.Int(9))) {
			c.breaks("merge.list", back, "%s: a list is not replaced: want [9], got %s", y.update.name, brief(got.Lookup("zz_list")))
		}
		if _, there := got.Get("zz_text"); there {
			c.breaks("merge.null", back, "%s: null does not remove a member", y.update.name)
		}
		return
	}
	if t.cases == 0 {
		t.lacking = "no resource has a field that takes any object"
		t.moot = t.lacking
	}
	if t.cases > 0 {
		t.moot = ""
	}
}

var readOnlyWords = regexp.MustCompile(`(?i)read-?\s?only|immutable|server-assigned|cannot be (changed|updated|modified)`)

// readOnly tries to change what the adapter assigned.
func (c *collector) readOnly(y *cycle) {
	before := c.readBack(y)
	_, thing := y.place(before.env)
	tried := 0
	for name, v := range thing.Members() {
		if tried == 2 || y.create.param(name) != nil || v.Kind() != jsonv.KindString || bookkeeping.MatchString(name) || jsonv.Equal(v, y.id) {
			continue
		}
		tried++
		other := jsonv.String("2001-01-01T00:00:00Z")
		if n, err := strconv.Atoi(v.Text()); err == nil {
			other = jsonv.String(strconv.Itoa(n + 1))
		}
		r := c.change(y, jsonv.Object(jsonv.Member{Key: name, Value: other}))
		if !r.sent() {
			continue
		}
		response := r.response()
		if r.ok() {
			_, now := y.place(c.readBack(y).env)
			if jsonv.Equal(now.Lookup(name), v) {
				response = response.With("x_note", jsonv.String("the update succeeded and changed nothing"))
			}
		}
		c.e.Constraints = append(c.e.Constraints, ConstraintCase{Name: y.update.name + " of the read-only " + name, Documented: c.disclosed(y, name), Response: response, Request: redactJSON(r.args), Call: r.n})
	}
}

// disclosed says that introspection calls a field read-only.
func (c *collector) disclosed(y *cycle, name string) bool {
	said := func(text string) bool { return readOnlyWords.MatchString(text) && names(text, name) }
	if said(y.update.detail.Lookup("description").Text()) || slices.ContainsFunc(y.update.params, func(p liveParam) bool {
		return said(p.doc) || p.name == name && readOnlyWords.MatchString(p.doc)
	}) {
		return true
	}
	t := c.types[strings.ToLower(y.get.detail.Lookup("returns", "name").Text())]
	if t == nil {
		return false
	}
	for _, f := range t.detail.Lookup("fields").Elems() {
		if f.Lookup("name").Text() == name && readOnlyWords.MatchString(f.Lookup("description").Text()) {
			return true
		}
	}
	return false
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
