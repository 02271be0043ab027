package guard

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/live/catalog"
)

// builder builds the required parameters of an operation, with identifiers that the
// adapter listed or that the run created.
type builder struct {
	values
	keeper  *keeper
	harvest map[[2]string]jsonv.Value           // the first one by resource and key
	reading map[*catalog.Operation]CreatedThing // by create: what READ operations are called with
	nested  int                                 // things that are created for others, at the moment
}

// FindHarvested returns a value that the adapter itself listed, absent if there is none: an
// identifier, a name, or a member of the same name. sure reports whether the list is of
// what the parameter names; an identifier of the same name may be of another list.
func (b *builder) FindHarvested(op *catalog.Operation, p catalog.Parameter) (v jsonv.Value, sure bool) {
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
		for _, lister := range b.Catalog.Operations {
			for _, key := range keys {
				// An address is not used: a READ may call it.
				listed := b.harvest[[2]string{lister.Resource, key}]
				isAlike := !listed.IsAbsent() && catalog.IsSameResource(lister.Resource, resource) == sure
				if isAlike && b.Catalog.Fits(p, listed) == "" && !strings.Contains(listed.Text(), "://") {
					return listed, sure
				}
			}
		}
		keys = []string{p.Name}
		if !op.IsIdentifier(p) || op.Category != "READ" {
			break
		}
	}
	return jsonv.Value{}, false
}

// BuildParams builds the required parameters of an operation; why is the reason if it
// cannot.
func (b *builder) BuildParams(op *catalog.Operation) (out jsonv.Value, why string) {
	out = jsonv.Object()
	given := func(name string) bool {
		_, ok := b.Options.FindGiven(op.Name, name)
		return ok
	}
	id := op.FindIDParam()
	actsOnOwn := id != nil && !given(id.Name) && b.actsOnOwn(op)
	if actsOnOwn || op.Category != "EXECUTE" && op.ChangesData() && b.Catalog.HasAtMostOne(op) {
		t, err := b.getOwnThing(op, func(t CreatedThing) bool {
			return id == nil || b.Catalog.Fits(*id, t.ID) == "" && (op.Category != "DELETE" || !b.Ledger.holds(t))
		})
		if err != nil {
			return out, err.Error()
		}
		out = t.AddNaming(op, out)
	}
	for _, p := range op.Params {
		stores := op.Creates() && p.Rehearses() && p.Schema.Lookup("default").Bool() // only if it is told to
		if named := !out.Lookup(p.Name).IsAbsent() && !given(p.Name); named || !p.Required && !stores {
			continue
		}
		if p.Rehearses() {
			out = out.With(p.Name, jsonv.Bool(false)) // a value of the user is sent apart
			continue
		}
		v, err := b.BuildValue(op, p)
		if err != nil {
			return out, err.Error()
		}
		out = out.With(p.Name, v)
	}
	return b.Maker.AddMark(op, out, ""), ""
}

// actsOnOwn reports whether an operation is called with something of the run only.
func (b *builder) actsOnOwn(op *catalog.Operation) bool {
	switch op.Category {
	case "UPDATE", "DELETE":
		return true
	case "EXECUTE":
		return op.FindExecutionParam() == nil && b.Catalog.FindCreator(op) != nil
	}
	return false
}

// BuildValue returns a value for a parameter: that of the user, something of the run, what a
// list showed, or an invented one.
func (b *builder) BuildValue(op *catalog.Operation, p catalog.Parameter) (jsonv.Value, error) {
	if v, ok := b.Options.FindGiven(op.Name, p.Name); ok {
		return v, nil
	}
	if x := op.FindExecutionParam(); x != nil && x.Name == p.Name {
		if v, err := b.getExecution(op); err == nil || op.Category != "READ" {
			return v, err
		}
	}
	if own := b.findOwnCreator(op, p); own != nil {
		if t, err := b.getReadable(own); err == nil && b.Catalog.Fits(p, t.ID) == "" {
			return t.ID, nil
		}
	}
	v, err := b.InventValue(op, p)
	namesItem := op.IsIdentifier(p) && op.Category != "UPDATE" && op.Category != "DELETE"
	if namesItem || op.Category == "READ" && (err != nil || catalog.Carries(v, b.Maker.RunIDs())) {
		if listed, _ := b.FindHarvested(op, p); !listed.IsAbsent() {
			return listed, nil
		}
	}
	return v, err
}

// InventValue generates a value for a required parameter that names nothing.
func (b *builder) InventValue(op *catalog.Operation, p catalog.Parameter) (jsonv.Value, error) {
	if op.Category == "UPDATE" && p.Name == "input" {
		return b.buildInput(op), nil
	}
	return b.Maker.MakeValue(op, p, p.Name)
}

// findOwnCreator returns the operation that creates what a parameter names, which for a create
// is of another resource; nil if the run may not create it.
func (b *builder) findOwnCreator(op *catalog.Operation, p catalog.Parameter) *catalog.Operation {
	create := b.Catalog.FindPartner("create", "CREATE", cmp.Or(catalog.ParseStem(p.Name), op.Resource))
	names := op.IsIdentifier(p) || op.Category == "CREATE" && op.NamesOther(p)
	if !names || create == nil || b.Gate.ExplainBarred(create) != "" {
		return nil
	}
	if !slices.Contains(append(b.Catalog.ListIDKeys(create), "id"), p.Name) {
		return nil
	}
	return create
}

// getReadable returns an item of the run to read: one with every documented field, as far
// as the adapter accepts them.
func (b *builder) getReadable(create *catalog.Operation) (CreatedThing, error) {
	things := b.Ledger.ListThings(create.Resource)
	if t := b.reading[create]; slices.ContainsFunc(things, t.Equal) {
		return t, nil
	}
	b.nested++
	if b.nested > maxNested || b.Caller.Cleaning {
		b.nested--
		return CreatedThing{}, errNoResource
	}
	defer func() { b.nested-- }()
	if params, why := b.BuildParams(create); why == "" {
		for _, p := range create.Params {
			if p.Rehearses() {
				continue
			}
			if v, err := b.BuildFilled(create, p); err == nil && params.Lookup(p.Name).IsAbsent() {
				params = params.With(p.Name, v)
			}
		}
		n := len(things)
		if b.keeper.Attempt(create, params).IsOK() && len(b.Ledger.ListThings(create.Resource)) > n {
			b.reading[create] = b.Ledger.ListThings(create.Resource)[n]
			return b.reading[create], nil
		}
	}
	return b.getOwnThing(create, func(CreatedThing) bool { return true })
}

// maxNested is how deep resources belong to each other.
const maxNested = 4

// BuildFilled is like Value for a create, and gives texts and objects visible content.
func (b *builder) BuildFilled(create *catalog.Operation, p catalog.Parameter) (jsonv.Value, error) {
	if b.findOwnCreator(create, p) != nil {
		return b.BuildValue(create, p)
	}
	return b.Maker.MakeFilled(create, p)
}

// readsOwn reports whether a READ operation is called with something of the run.
func (b *builder) readsOwn(op *catalog.Operation) bool {
	return slices.ContainsFunc(op.Params, func(p catalog.Parameter) bool { return b.findOwnCreator(op, p) != nil })
}

// buildInput returns an object with one field that the resource has.
func (b *builder) buildInput(op *catalog.Operation) jsonv.Value {
	if create := b.Catalog.FindCreator(op); create != nil {
		for _, p := range create.Params {
			if b.Catalog.FindJSONKind(p) == "string" && p.Schema.Lookup("enum").IsAbsent() && !p.Sensitive {
				if v, err := b.Maker.MakeValue(create, p, "changed"); err == nil {
					return jsonv.ObjectOf(p.Name, v)
				}
			}
		}
	}
	return jsonv.Object()
}

var errNoResource = errors.New("no create call returned an identifier")

// getOwnThing returns an item that this run created. It creates one if there is none yet.
func (b *builder) getOwnThing(op *catalog.Operation, fits func(CreatedThing) bool) (CreatedThing, error) {
	for _, other := range b.Catalog.Operations {
		things := b.Ledger.ListThings(other.Resource)
		if !catalog.IsSameResource(other.Resource, op.Resource) {
			continue
		}
		for i := len(things) - 1; i >= 0; i-- {
			if fits(things[i]) && b.Maker.IsCommonKind(op, things[i].With) {
				return things[i], nil
			}
		}
	}
	create := b.Catalog.FindCreator(op)
	if create == nil || b.Caller.Cleaning || b.Gate.ExplainBarred(create) != "" {
		return CreatedThing{}, errNoResource
	}
	params, why := b.BuildParams(create)
	if why != "" {
		return CreatedThing{}, errors.New(why)
	}
	r := b.keeper.Attempt(create, params)
	things := b.Ledger.ListThings(create.Resource)
	if r.IsOK() && len(things) > 0 {
		return things[len(things)-1], nil
	}
	if !r.WasSent() && r.Cause != nil {
		return CreatedThing{}, r.Cause
	}
	return CreatedThing{}, errNoResource
}

// RebuildParams builds the required parameters again: a delete has removed the item that the
// previous ones named.
func (b *builder) RebuildParams(op *catalog.Operation) jsonv.Value {
	params, _ := b.BuildParams(op)
	return params
}

// maxStarted bounds the executions of one run.
const maxStarted = 30

// Start begins an execution of an operation.
func (b *builder) Start(op *catalog.Operation) (*execution, Reply) {
	if len(b.Ledger.executions) >= maxStarted {
		return nil, Reply{Cause: errors.New("the run reached its limit of executions")}
	}
	params, why := b.BuildParams(op)
	if why != "" {
		return nil, Reply{Cause: errors.New(why)}
	}
	before := len(b.Ledger.executions)
	r := b.keeper.Attempt(op, params)
	if len(b.Ledger.executions) == before {
		return nil, r
	}
	return b.Ledger.executions[len(b.Ledger.executions)-1], r
}

// getExecution returns an execution for an operation: one that is still running, if
// there is one, or else a new one. An operation that only reads accepts any.
func (b *builder) getExecution(op *catalog.Operation) (jsonv.Value, error) {
	for _, x := range slices.Backward(b.Ledger.executions) {
		if !x.Over || op.Category == "READ" {
			return x.id, nil
		}
	}
	if b.Options.Mode == ModeFull {
		for _, starter := range b.Catalog.Operations {
			if !starter.Starts() || b.Gate.ExplainBarred(starter) != "" || b.Gate.Poison[starter.Name] != "" {
				continue
			}
			if x, _ := b.Start(starter); x != nil {
				return x.id, nil
			}
		}
	}
	return jsonv.Value{}, errNoExecution
}

var errNoExecution = errors.New("the run started no execution that it could name")

// keepHarvest keeps the first texts and numbers that an item of a resource has for each of its keys.
func (b *builder) keepHarvest(resource string, item jsonv.Value) {
	for k, v := range item.Members() {
		at := [2]string{resource, k}
		isScalar := v.Kind() == jsonv.KindString || v.Kind() == jsonv.KindNumber
		if isScalar && b.harvest[at].IsAbsent() {
			b.harvest[at] = v
		}
	}
}
