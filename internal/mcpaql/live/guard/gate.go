package guard

import (
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/live/catalog"
	"mcptest/internal/mcpaql/live/change"
)

// gate decides which requests are sent. Every request of a run passes it, regardless
// of its purpose: otherwise an adapter with the very defect that a probe tests for
// would change or remove data of others. It allows operations that only read, creates
// that are marked or can be found again, and operations on items in the run's ledger.
// Nothing else is sent.
type gate struct {
	options *Options
	catalog *catalog.Catalog
	maker   *catalog.Maker
	ledger  *ledger
	Census  *change.Census    // what others own
	Poison  map[string]string // operation → why it is not called any more
	Skipped map[string]string // operation → why the run leaves it out
}

// Reasons why the gate refuses a request.
const (
	whyForeign   = "it would touch what this run did not create"
	WhyUnnamed   = "without an identifier it may touch what this run did not create"
	whyNotBegun  = "it would touch what this run did not start"
	whyUnlisted  = "introspection lists no such operation"
	whyUnmarked  = "it would create something without the run's mark, which no list would show"
	whyTaken     = "something may have this key already, which it would write over"
	whyAlike     = "its identifier is too similar to one that this run does not own"
	whyUndefined = "it does not target an item of this run; without that, the effect of the call is unknown"
)

// explainRefusal returns why arguments of a tool may not be sent, or "".
func (g *gate) explainRefusal(args jsonv.Value) string {
	batch := args.Lookup("operations")
	for _, one := range batch.Elems() {
		if why := g.explainRefusal(one); why != "" {
			return why
		}
	}
	name := args.Lookup("operation")
	op := g.catalog.FindOperation(name.Text())
	params := args.Lookup("params")
	switch {
	case name.Kind() != jsonv.KindString:
		if params.Len() > 0 {
			return whyUnlisted
		}
		return ""
	case name.Text() == "introspect", name.Text() == NoOperation, op == nil && name.Text() == "batch" && batch.Len() > 0:
		return ""
	case op == nil:
		return whyUnlisted
	}
	if why := g.ExplainBarred(op); why != "" {
		return why
	}
	switch {
	case op.Risk == catalog.RiskRead:
		return ""
	case op.ChangesData():
		return g.checkChange(op, params)
	case op.Creates():
		return g.checkCreate(op, params)
	}
	return g.checkExecute(op, params)
}

// checkChange allows an update or a delete that names an item of the ledger.
func (g *gate) checkChange(op *catalog.Operation, params jsonv.Value) string {
	id := op.FindIDParam()
	if id == nil {
		if g.catalog.HasAtMostOne(op) && len(g.ledger.ListThings(op.Resource)) > 0 {
			return "" // the run saw that there was none before
		}
		return WhyUnnamed
	}
	for _, p := range op.Params {
		if !op.IsIdentifier(p) {
			continue
		}
		v, given := params.Get(p.Name)
		switch {
		case !given:
			return WhyUnnamed
		case g.isGivenByUser(op, p.Name, v) && (p.Name != id.Name || g.options.Mode == ModeFull):
		case p.Name == id.Name && !g.owns(op, v, params):
			return whyForeign
		case p.Name != id.Name && !g.belongs(op, p.Name, params.Lookup(id.Name), v):
			return whyForeign
		case g.Census.HasSimilar(op.Resource, v, g.catalog.ListItemKeys):
			return whyAlike
		}
	}
	return ""
}

// belongs reports whether a value names something of the run, or what the item of the
// run with the given identifier was created in.
func (g *gate) belongs(op *catalog.Operation, param string, id, v jsonv.Value) bool {
	if len(g.ledger.findThings(catalog.ParseStem(param), v)) > 0 {
		return true
	}
	return slices.ContainsFunc(g.ledger.findThings(op.Resource, id), func(t CreatedThing) bool {
		return jsonv.Equal(t.With.Lookup(param), v)
	})
}

// owns reports whether parameters name an item of the run, of the right kind.
func (g *gate) owns(op *catalog.Operation, id, params jsonv.Value) bool {
	return slices.ContainsFunc(g.ledger.findThings(op.Resource, id), func(t CreatedThing) bool {
		for name, v := range t.With.Members() {
			if op.FindParam(name) != nil && !jsonv.Equal(params.Lookup(name), v) {
				return false
			}
		}
		return true
	})
}

// checkCreate allows a create whose parameters carry the run's mark. A probe that omits
// the mark is sent if a list shows the created item. A key that may be in use could
// overwrite its item, and a number that names another item would make the new one a
// part of it.
func (g *gate) checkCreate(op *catalog.Operation, params jsonv.Value) string {
	listed := g.Census.ReadsAll(op.Resource)
	plain := op.Verb == "create"
	isMarked := catalog.MatchesAny(op.Name, g.options.Allow) || catalog.Carries(params, g.maker.RunIDs())
	if !isMarked && !(listed && plain) {
		return whyUnmarked
	}
	for _, p := range op.Params {
		named := p.Name == "id" || catalog.ParseStem(p.Name) != ""
		if plain || !named || !p.Required {
			continue
		}
		v := params.Lookup(p.Name)
		if !g.namesOwnThing(op, p.Name, v) && !g.isGivenByUser(op, p.Name, v) {
			return whyForeign // an action under another name on an existing item
		}
	}
	keys := g.catalog.ListItemKeys(op)
	for name, v := range params.Members() {
		if g.isGivenByUser(op, name, v) || catalog.Carries(v, g.maker.RunIDs()) {
			continue
		}
		switch {
		case !slices.Contains(keys, name):
			of := catalog.ParseStem(name)
			namesItem := of != "" && (v.Kind() == jsonv.KindNumber || g.Census.Knows(of, v))
			if namesItem && len(g.ledger.findThings(of, v)) == 0 {
				return whyForeign
			}
		case !listed || g.Census.Knows(op.Resource, v):
			return whyTaken
		}
	}
	return ""
}

// checkExecute allows operations that act on an execution or an item of the run, and
// operations that are documented to start something of their own.
func (g *gate) checkExecute(op *catalog.Operation, params jsonv.Value) string {
	if x := op.FindExecutionParam(); x != nil {
		if v := params.Lookup(x.Name); g.ledger.findExecution(v) == nil && !g.isGivenByUser(op, x.Name, v) {
			return whyNotBegun
		}
		return ""
	}
	for _, p := range op.Params {
		if !op.IsIdentifier(p) || op.Category == "READ" {
			continue
		}
		v := params.Lookup(p.Name)
		if !g.namesOwnThing(op, p.Name, v) && !g.isGivenByUser(op, p.Name, v) {
			return whyForeign
		}
	}
	for _, p := range op.Params {
		v, isGiven := params.Get(p.Name)
		if !isGiven {
			if p.Required {
				return whyUndefined
			}
			continue
		}
		if g.catalog.Fits(p, v) != "" && !g.isGivenByUser(op, p.Name, v) {
			return whyUndefined
		}
	}
	return ""
}

// namesOwnThing reports whether a parameter's value is an item of the run: of the operation's
// resource, or of the one that the parameter's name refers to.
func (g *gate) namesOwnThing(op *catalog.Operation, param string, v jsonv.Value) bool {
	return len(g.ledger.findThings(op.Resource, v))+len(g.ledger.findThings(catalog.ParseStem(param), v)) > 0
}

// isGivenByUser reports whether the user provided a value.
func (g *gate) isGivenByUser(op *catalog.Operation, param string, v jsonv.Value) bool {
	given := func(at string) bool { return jsonv.Equal(g.options.Values.Lookup(at, param), v) }
	return !v.IsAbsent() && (given(op.Name) || given("*"))
}

// ExplainForbidden returns why arguments may not be sent, or "".
func (g *gate) ExplainForbidden(args jsonv.Value) string {
	if why := g.Poison[args.Lookup("operation").Text()]; why != "" {
		return why
	}
	return g.explainRefusal(args)
}

// ExplainUnsent returns why a mode that may call an operation would not send a planned call, or "":
// what it acts on is not of the run, and nothing creates or starts that.
func (g *gate) ExplainUnsent(op *catalog.Operation, params jsonv.Value) string {
	id := op.FindIDParam()
	named := id != nil && g.isGivenByUser(op, id.Name, params.Lookup(id.Name))
	create := g.catalog.FindCreator(op)
	x := op.FindExecutionParam()
	isGivenExecution := x != nil && g.isGivenByUser(op, x.Name, params.Lookup(x.Name))
	switch {
	case op.Risk == catalog.RiskRead, catalog.MatchesAny(op.Name, g.options.Allow):
		return ""
	case op.ChangesData() && named && g.options.Mode != ModeFull:
		return "mode " + g.options.Mode + " changes nothing that --values names; mode full does"
	case op.ChangesData() && !named && create != nil && g.ExplainBarred(create) != "":
		return "it is called with what " + create.Name + " creates, which is not called: " + g.ExplainBarred(create)
	case x != nil && op.Category == "EXECUTE" && !isGivenExecution && g.findStarter() == nil:
		return "no operation that may be called starts an execution"
	case op.Creates() && op.Verb != "create" && !catalog.Carries(params, g.maker.RunIDs()):
		return whyUnmarked
	}
	return ""
}

// findStarter returns an operation that starts an execution and may be called; nil if there is none.
func (g *gate) findStarter() *catalog.Operation {
	return g.catalog.FindFirst(func(op *catalog.Operation) bool { return op.Starts() && g.ExplainBarred(op) == "" })
}

// ExplainBarred returns why an operation may not be called at all, or "".
func (g *gate) ExplainBarred(op *catalog.Operation) string {
	named := catalog.MatchesAny(op.Name, g.options.Allow)
	if catalog.MatchesAny(op.Name, g.options.Deny) {
		return "denied by --deny-op"
	}
	why := strings.Join(op.Reasons, ", ")
	switch {
	case op.Risk == catalog.RiskRead:
		return ""
	case g.options.Mode == ModeSafe || g.options.Mode == ModePlan:
		return "mode " + g.options.Mode + " does not call it: " + why
	case op.Risk == catalog.RiskExtreme && !slices.Contains(g.options.Allow, op.Name):
		return "only called when --allow-op names it: " + why
	case op.Risk >= catalog.RiskDanger && !named:
		return "only called when --allow-op matches it: " + why
	case op.Category == "READ" && !named:
		return "mode " + g.options.Mode + " does not call it without --allow-op: " + why
	case op.Name == catalog.StepOperation && g.options.Mode == ModeFull:
	case op.Category == "CREATE" && g.FindRemover(op) == nil && !named:
		_, why := g.findRemoval(op)
		return why + ", so what it creates would remain; --allow-op calls it anyway"
	case op.Category == "CREATE" && !named && g.ledger.explainStay(op) != "":
		return g.ledger.explainStay(op)
	case op.Creates() && !named && !g.maker.CanMark(op):
		return "what it creates cannot carry the run's mark; --allow-op calls it anyway"
	case op.Category == "CREATE" && !named && op.Verb == "create" && g.FindCycle(op) == nil:
		return "no operation reads what it creates, so that the run could not identify what it created; --allow-op calls it anyway"
	case (op.Category == "DELETE" || op.Category == "UPDATE") && g.catalog.FindCreator(op) == nil:
		id := op.FindIDParam()
		if g.options.Mode == ModeFull && id != nil && !g.options.Values.Lookup(op.Name, id.Name).IsAbsent() {
			return ""
		}
		return "no operation creates something that it could be called with"
	case op.Category == "EXECUTE" && g.options.Mode != ModeFull:
		return "mode write does not call it: " + why
	case op.ActsUnnamed() && !named:
		return "it cannot be called with something of this run, and it is not documented as starting an execution; --allow-op calls it as documented"
	}
	return ""
}

// FindRemover returns the operation that removes the item of a create, or nil if there is
// none that may be called.
func (g *gate) FindRemover(op *catalog.Operation) *catalog.Operation {
	remove, _ := g.findRemoval(op)
	return remove
}

// findRemoval is like Remover and also returns the reason if there is none.
func (g *gate) findRemoval(op *catalog.Operation) (remove *catalog.Operation, why string) {
	d := g.catalog.FindPartner("delete", "DELETE", op.Resource)
	one := g.catalog.HasAtMostOne(op)
	if one {
		d = g.catalog.FindExact("delete", "DELETE", op.Resource)
	}
	switch {
	case d == nil:
		return nil, "no DELETE operation of its resource was found"
	case !one && d.FindIDParam() == nil:
		if d.IsSilent() {
			return nil, "the detail of " + d.Name + " does not say which parameters it takes"
		}
		return nil, d.Name + " requires no identifier"
	case catalog.MatchesAny(d.Name, g.options.Deny):
		return nil, d.Name + " is denied by --deny-op"
	case d.Risk > catalog.RiskDelete && !catalog.MatchesAny(d.Name, g.options.Allow):
		return nil, d.Name + " is only called when --allow-op names it"
	}
	return d, ""
}

// NoOperation is the name of an operation that no adapter has.
const NoOperation = "zz_no_such_operation"

// FindCycle finds the operations of a resource; nil when nothing reads it.
func (g *gate) FindCycle(create *catalog.Operation) *Cycle {
	callable := func(op *catalog.Operation) bool { return op != nil && g.Skipped[op.Name] == "" }
	y := &Cycle{
		Create: create,
		Get:    g.catalog.FindGetter(create),
		Update: g.catalog.FindPartner("update", "UPDATE", create.Resource),
		Remove: g.FindRemover(create),
	}
	if !callable(y.Get) {
		y.Get, y.List = nil, g.catalog.FindPartner("list", "READ", create.Resource)
	}
	if y.Get == nil && !callable(y.List) {
		return nil
	}
	return y
}
