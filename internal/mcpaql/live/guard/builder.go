package guard

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/live/catalog"
)

const maxHarvested = 20

// builder builds the required parameters of an operation, with identifiers that the
// adapter listed or that the run created.
type builder struct {
	run     *Run
	harvest map[string]map[string][]jsonv.Value // resource → key → values
	First   map[string]Reply                    // the answers of the lists before anything else was called
	reading map[*catalog.Operation]CreatedThing // by create: what READ operations are called with
	nested  int                                 // things that are created for others, at the moment
}

// HarvestLists calls the list operations, or the others that may list something, and
// keeps the identifiers in their answers for other operations.
func (b *builder) HarvestLists(lists bool) {
	for _, op := range b.run.Catalog.Operations {
		if op.Category != "READ" || b.run.Skipped[op.Name] != "" || op.IDParam() != nil || op.Name == "introspect" || (op.Verb == "list") != lists {
			continue
		}
		if op.Verb != "list" && op.Verb != "get" && op.Verb != "search" && !strings.HasSuffix(op.Resource, "s") {
			continue
		}
		params, why := b.Params(op)
		if why != "" {
			continue
		}
		r := b.run.Caller.Call(op, params)
		if !r.OK() {
			continue
		}
		b.First[op.Name] = r
		keys := b.harvest[op.Resource]
		if keys == nil {
			keys = map[string][]jsonv.Value{}
			b.harvest[op.Resource] = keys
		}
		for _, item := range catalog.Items(r.Data(), catalog.ListDepth) {
			if item.Lookup("type").Text() == "text" && item.Lookup("text").Kind() == jsonv.KindString {
				continue // content of MCP, which names nothing
			}
			for k, v := range item.Members() {
				if kind := v.Kind(); (kind == jsonv.KindString || kind == jsonv.KindNumber) && len(keys[k]) < maxHarvested {
					keys[k] = append(keys[k], v)
				}
			}
		}
	}
}

// Harvested returns a value that the adapter itself listed, absent if there is none: an
// identifier, a name, or a member of the same name. sure reports whether the list is of
// what the parameter names; an identifier of the same name may be of another list.
func (b *builder) Harvested(op *catalog.Operation, p catalog.Parameter) (v jsonv.Value, sure bool) {
	resource, keys := op.Resource, []string{p.Name}
	for _, kind := range []string{"id", "name"} {
		if stem, ok := strings.CutSuffix(p.Name, "_"+kind); ok && stem != "" {
			resource, keys = stem, []string{p.Name, kind}
		}
	}
	if op.IsIdentifier(p) {
		keys = append(keys, "id", "name", "slug")
	}
	// The maps are walked in the order of the operations, so that
	// the same adapter gets the same requests.
	for _, sure := range []bool{true, false} {
		for _, lister := range b.run.Catalog.Operations {
			for _, key := range keys {
				// An address is not used: a READ may call it.
				listed := b.harvest[lister.Resource][key]
				if len(listed) > 0 && catalog.SameResource(lister.Resource, resource) == sure && b.run.Catalog.Fits(p, listed[0]) == "" && !strings.Contains(listed[0].Text(), "://") {
					return listed[0], sure
				}
			}
		}
		if keys = []string{p.Name}; !op.IsIdentifier(p) || op.Category != "READ" {
			break
		}
	}
	return jsonv.Value{}, false
}

// Params builds the required parameters of an operation; why is the reason if it
// cannot.
func (b *builder) Params(op *catalog.Operation) (out jsonv.Value, why string) {
	out = jsonv.Object()
	given := b.run.Options.Values.Lookup(op.Name)
	if id := op.IDParam(); id != nil && given.Lookup(id.Name).IsAbsent() && b.actsOnOwn(op) || op.Category != "EXECUTE" && op.Changes() && b.run.Catalog.AtMostOne(op) {
		t, err := b.ownThing(op, func(t CreatedThing) bool {
			return id == nil || b.run.Catalog.Fits(*id, t.Id) == "" && (op.Category != "DELETE" || !b.run.Keeper.Ledger.holds(t))
		})
		if err != nil {
			return out, err.Error()
		}
		out = t.Naming(op, out)
	}
	for _, p := range op.Params {
		if named := !out.Lookup(p.Name).IsAbsent() && given.Lookup(p.Name).IsAbsent(); named || !p.Required {
			continue
		}
		v, err := b.Value(op, p)
		if err != nil {
			return out, err.Error()
		}
		out = out.With(p.Name, v)
	}
	return b.run.Maker.Marking(op, out, ""), ""
}

// actsOnOwn reports whether an operation is called with something of the run only.
func (b *builder) actsOnOwn(op *catalog.Operation) bool {
	return op.Category == "UPDATE" || op.Category == "DELETE" || op.Category == "EXECUTE" && op.ExecutionParam() == nil && b.run.Catalog.Creator(op) != nil
}

// Value returns a value for a parameter: that of the user, something of the run, what a
// list showed, or an invented one.
func (b *builder) Value(op *catalog.Operation, p catalog.Parameter) (jsonv.Value, error) {
	if v, ok := b.run.Options.Values.Lookup(op.Name).Get(p.Name); ok {
		return v, nil
	}
	if x := op.ExecutionParam(); x != nil && x.Name == p.Name {
		if v, err := b.run.Executor.someExecution(op); err == nil || op.Category != "READ" {
			return v, err
		}
	}
	if own := b.ownable(op, p); own != nil {
		if t, err := b.readable(own); err == nil && b.run.Catalog.Fits(p, t.Id) == "" {
			return t.Id, nil
		}
	}
	v, err := b.Invented(op, p)
	if op.IsIdentifier(p) && op.Category != "UPDATE" && op.Category != "DELETE" || op.Category == "READ" && (err != nil || catalog.Carries(v, b.run.Maker.RunIDs())) {
		if listed, _ := b.Harvested(op, p); !listed.IsAbsent() {
			return listed, nil
		}
	}
	return v, err
}

// Invented generates a value for a required parameter that names nothing.
func (b *builder) Invented(op *catalog.Operation, p catalog.Parameter) (jsonv.Value, error) {
	if op.Category == "UPDATE" && p.Name == "input" {
		return b.someInput(op), nil
	}
	return b.run.Maker.Value(op, p, p.Name)
}

// ownable returns the operation that creates what a parameter names, which for a create
// is of another resource; nil if the run may not create it.
func (b *builder) ownable(op *catalog.Operation, p catalog.Parameter) *catalog.Operation {
	create := b.run.Catalog.Partner("create", "CREATE", cmp.Or(catalog.Stem(p.Name), op.Resource))
	if names := op.IsIdentifier(p) || op.Category == "CREATE" && op.NamesOther(p); !names || create == nil || b.run.Gate.Barred(create) != "" || !slices.Contains(append(b.run.Catalog.IDKeys(create), "id"), p.Name) {
		return nil
	}
	return create
}

// readable returns an item of the run to read: one with every documented field, as far
// as the adapter accepts them.
func (b *builder) readable(create *catalog.Operation) (CreatedThing, error) {
	things := b.run.Keeper.Ledger.Things[create.Resource]
	if t := b.reading[create]; slices.ContainsFunc(things, t.Equal) {
		return t, nil
	}
	if b.nested++; b.nested > maxNested || b.run.Cleaner.Cleaning {
		b.nested--
		return CreatedThing{}, errNoResource
	}
	defer func() { b.nested-- }()
	if params, why := b.Params(create); why == "" {
		for _, p := range create.Params {
			if v, err := b.Filled(create, p); err == nil && params.Lookup(p.Name).IsAbsent() {
				params = params.With(p.Name, v)
			}
		}
		if n := len(things); b.run.Keeper.Attempt(create, params).OK() && len(b.run.Keeper.Ledger.Things[create.Resource]) > n {
			b.reading[create] = b.run.Keeper.Ledger.Things[create.Resource][n]
			return b.reading[create], nil
		}
	}
	return b.ownThing(create, func(CreatedThing) bool { return true })
}

// maxNested is how deep resources belong to each other.
const maxNested = 4

// Filled is like Value for a create, and gives texts and objects visible content.
func (b *builder) Filled(create *catalog.Operation, p catalog.Parameter) (jsonv.Value, error) {
	if b.ownable(create, p) != nil {
		return b.Value(create, p)
	}
	return b.run.Maker.Filled(create, p)
}

// readsOwn reports whether a READ operation is called with something of the run.
func (b *builder) readsOwn(op *catalog.Operation) bool {
	return slices.ContainsFunc(op.Params, func(p catalog.Parameter) bool { return b.ownable(op, p) != nil })
}

// someInput returns an object with one field that the resource has.
func (b *builder) someInput(op *catalog.Operation) jsonv.Value {
	if create := b.run.Catalog.Creator(op); create != nil {
		for _, p := range create.Params {
			if b.run.Catalog.JSONKind(p) == "string" && p.Schema.Lookup("enum").IsAbsent() && !p.Sensitive {
				if v, err := b.run.Maker.Value(create, p, "changed"); err == nil {
					return jsonv.ObjectOf(p.Name, v)
				}
			}
		}
	}
	return jsonv.Object()
}

var errNoResource = errors.New("no create call returned an identifier")

// ownThing returns an item that this run created. It creates one if there is none yet.
func (b *builder) ownThing(op *catalog.Operation, fits func(CreatedThing) bool) (CreatedThing, error) {
	for _, other := range b.run.Catalog.Operations {
		things := b.run.Keeper.Ledger.Things[other.Resource]
		if !catalog.SameResource(other.Resource, op.Resource) {
			continue
		}
		for i := len(things) - 1; i >= 0; i-- {
			if fits(things[i]) && b.run.Maker.Common(op, things[i].With) {
				return things[i], nil
			}
		}
	}
	create := b.run.Catalog.Creator(op)
	if create == nil || b.run.Cleaner.Cleaning || b.run.Gate.Barred(create) != "" {
		return CreatedThing{}, errNoResource
	}
	params, why := b.Params(create)
	if why != "" {
		return CreatedThing{}, errors.New(why)
	}
	r := b.run.Keeper.Attempt(create, params)
	if things := b.run.Keeper.Ledger.Things[create.Resource]; r.OK() && len(things) > 0 {
		return things[len(things)-1], nil
	}
	if !r.Sent() && r.Cause != nil {
		return CreatedThing{}, r.Cause
	}
	return CreatedThing{}, errNoResource
}

// Naming builds the required parameters of an operation for an item. It creates nothing.
func (b *builder) Naming(op *catalog.Operation, t CreatedThing) jsonv.Value {
	before := b.run.Cleaner.Cleaning
	b.run.Cleaner.Cleaning = true
	params := b.Fresh(op)
	b.run.Cleaner.Cleaning = before
	return t.Naming(op, params)
}

// Fresh builds the required parameters again: a delete has removed the item that the
// previous ones named.
func (b *builder) Fresh(op *catalog.Operation) jsonv.Value {
	params, _ := b.Params(op)
	return params
}
