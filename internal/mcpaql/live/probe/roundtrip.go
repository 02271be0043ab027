package probe

import (
	"cmp"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/live/catalog"
	"mcptest/internal/mcpaql/live/guard"
)

// callControl matches the names of optional parameters that control a call, and are not
// fields of what it creates.
var callControl = evidence.Pattern(`^(idempotency_key|dry_run|validate_only|force|overwrite|notify|return_\w+)$`)

// testRoundTrips creates, reads, updates and deletes one item of each kind.
func (pr cycleProbe) testRoundTrips() {
	for _, id := range []string{"merge", "input", "deleted"} {
		pr.run.Rows.Tests[id].Incomplete = "nothing could be created, read and updated"
	}
	pr.run.Rows.Tests["append-only"].Incomplete = nothingUpdated
	n := 0
	for _, op := range pr.run.Catalog.Operations {
		base := pr.run.Base[op.Name]
		switch {
		case !op.Creates() || pr.run.Gate.Skipped[op.Name] != "":
			continue
		case op.Verb != "create":
			if !base.IsOK() {
				pr.run.Rows.Skip("create-read", op.Name, "", "it did not succeed: "+base.FormatBrief())
			}
			continue
		}
		for _, kind := range pr.run.Maker.ListKinds(op, pr.run.Gate.FindRemover(op)) {
			pr.testRoundTrip(op, kind)
		}
		n++
	}
	if n == 0 {
		pr.run.Rows.Tests["merge"].Incomplete += " in mode " + pr.run.Options.Mode
	}
}

func (pr cycleProbe) testRoundTrip(create *catalog.Operation, kind jsonv.Value) {
	y := pr.run.Gate.FindCycle(create)
	if y == nil {
		pr.run.Rows.Skip("create-read", create.Name, "", "there is no operation that reads what it creates")
		return
	}
	params, ok := pr.fillParams(create)
	if !ok {
		return
	}
	y.Params = evidence.Merge(params, kind)
	made, ok := pr.createItem(y)
	if !ok {
		return
	}
	if y.Read = pr.readBack(y); !y.Read.WasSent() {
		return
	}
	pr.compareCreated(y, made)
	if y.Update != nil && pr.run.Gate.Skipped[y.Update.Name] == "" && y.Read.IsOK() {
		pr.testUpdates(y)
	}
	if y.Remove != nil && pr.run.Gate.Skipped[y.Remove.Name] == "" {
		pr.testRemoval(y)
	}
}

// fillParams builds every documented parameter of a create. It returns false, and records
// why, if a required one cannot be built.
func (pr cycleProbe) fillParams(create *catalog.Operation) (params jsonv.Value, ok bool) {
	params = jsonv.Object()
	base := pr.run.Builder.RebuildParams(create)
	for _, p := range create.Params {
		if p.Rehearses() {
			if v, has := base.Get(p.Name); has {
				params = params.With(p.Name, v)
			}
			continue
		}
		v, err := pr.run.Builder.BuildFilled(create, p)
		switch {
		case err == nil:
			params = params.With(p.Name, v)
		case p.Required:
			pr.run.Rows.Skip("create-read", create.Name, p.Name, err.Error())
			return params, false
		}
	}
	return params, true
}

// createItem creates the item of a cycle and finds it among those of the run. It returns
// false, and records why, if there is none.
func (pr cycleProbe) createItem(y *guard.Cycle) (made guard.Reply, ok bool) {
	made = pr.run.Keeper.Attempt(y.Create, y.Params)
	if strings.HasPrefix(made.Code(), "CONFLICT") && pr.clear(y.Create, y.Remove) {
		made = pr.run.Keeper.Attempt(y.Create, y.Params)
	}
	things := pr.run.Ledger.ListThings(y.Create.Resource)
	if made.IsOK() && len(things) > 0 {
		y.Thing = things[len(things)-1]
		return made, true
	}
	switch {
	case made.IsOK():
		pr.run.Rows.Skip("create-read", y.Create.Name, "", "what it created was not found again")
	case made.WasSent():
		pr.run.Rows.Skip("create-read", y.Create.Name, "",
			"it did not succeed with every documented parameter: "+made.FormatBrief())
	case made.Cause != nil:
		pr.run.Rows.SkipUnsent("create-read", y.Create.Name, "", made)
	}
	return made, false
}

// clear removes the item that the run created of a resource of which there is at most
// one. It returns false if there is nothing to remove.
func (pr cycleProbe) clear(create, remove *catalog.Operation) bool {
	things := pr.run.Ledger.ListThings(create.Resource)
	if remove == nil {
		return false
	}
	for _, t := range things {
		pr.run.Keeper.Attempt(remove, pr.run.Lister.BuildNaming(remove, t))
	}
	return len(things) > 0
}

func (pr cycleProbe) compareCreated(y *guard.Cycle, made guard.Reply) {
	prefix, thing := y.Place(y.Read)
	if isRendered(thing, y.Params) {
		pr.run.Rows.Skip("create-read", y.Create.Name, "",
			y.NameReader()+" responds with a text, whose fields cannot be compared")
		return
	}
	prefix = cmp.Or(prefix, "data") // an empty place, so that the row reports the absence
	f := evidence.FieldsCase{
		Name:         y.Create.Name + " then " + y.NameReader(),
		ReadResponse: pr.run.Caller.RedactAnswer(y.Read),
		Call:         y.Read.Number,
	}
	for name, v := range y.Params.Members() {
		p := y.Create.FindParam(name)
		if !isStored(p) {
			continue
		}
		isMissing := thing.Lookup(name).IsAbsent()
		namesParent := catalog.ParseStem(name) != "" && !y.Thing.With.Lookup(name).IsAbsent()
		if isMissing && namesParent {
			continue
		}
		if isMissing && !p.Required && showsAny(thing, y.Params) && !pr.isKnownField(y, made, name) {
			pr.run.Rows.Fail("consistency.unshown", y.Read,
				"%s accepts %s, and no response and no type shows it", y.Create.Name, evidence.Quote(name))
			continue
		}
		f.Fields = append(f.Fields, expectStored(y.Read, f.ReadResponse, prefix+"."+name, v))
	}
	pr.run.Evidence.RoundTrips = append(pr.run.Evidence.RoundTrips, f)
}

// isStored reports whether the value of a parameter is expected in what a create stored: those
// that control the call are not, nor are secrets.
func isStored(p *catalog.Parameter) bool {
	isSecret := p.Sensitive || evidence.IsSecretKey(p.Name)
	controlsCall := p.Rehearses() || !p.Required && callControl().MatchString(p.Name)
	return !isSecret && !controlsCall && !strings.Contains(p.Name, ".")
}

// showsAny reports whether a thing has one of the fields that were sent.
func showsAny(thing, fields jsonv.Value) bool {
	return slices.ContainsFunc(fields.Keys(), func(name string) bool { return !thing.Lookup(name).IsAbsent() })
}

// isRendered reports whether a thing is a text for people, as content of MCP, instead of
// the fields that were sent.
func isRendered(thing, fields jsonv.Value) bool {
	if thing.Lookup("content").At(0).Lookup("type").Text() != "text" {
		return false
	}
	showsField := slices.ContainsFunc(fields.Keys(), func(name string) bool {
		return name != "content" && !thing.Lookup(name).IsAbsent()
	})
	return !showsField
}

// isKnownField reports whether a parameter of a create is a field of the resource: its type, its
// update, the response to the create or an item of its lists shows it. Another one may
// control the call.
func (pr cycleProbe) isKnownField(y *guard.Cycle, made guard.Reply, name string) bool {
	t := pr.findResourceType(y)
	isName := func(f jsonv.Value) bool {
		return f.Lookup("name").Text() == name
	}
	if t != nil && slices.ContainsFunc(t.Detail.Lookup("fields").List(), isName) {
		return true
	}
	_, answer := y.Place(made)
	shown := []jsonv.Value{answer}
	if y.Update != nil && y.Update.FindParam("input") != nil {
		shown = append(shown, y.Update.FindParam("input").Schema.Lookup("properties"))
	}
	for _, list := range pr.run.Catalog.Operations {
		if catalog.IsSameResource(list.Resource, y.Create.Resource) {
			shown = append(shown, catalog.FindItems(pr.run.Lister.First[list.Name].Data(), catalog.ListDepth)...)
		}
	}
	return slices.ContainsFunc(shown, func(v jsonv.Value) bool { return !v.Lookup(name).IsAbsent() })
}

// testRemoval deletes the item and reads it again.
func (pr cycleProbe) testRemoval(y *guard.Cycle) {
	params := pr.run.Lister.BuildNaming(y.Remove, y.Thing)
	r := pr.run.Keeper.Attempt(y.Remove, params)
	if !r.IsOK() {
		pr.run.Ledger.NoteRefusedDelete(y.Remove, r)
		return
	}
	pr.run.Rows.Count("deleted")
	gone := func(r guard.Reply) bool {
		_, still := y.Place(r)
		return !r.IsOK() || still.Kind() != jsonv.KindObject
	}
	if back := pr.readAfter(y, gone); !gone(back) {
		pr.run.Rows.Fail("deleted.gone", back,
			"%s still returns the item that %s removed", y.NameReader(), y.Remove.Name)
	}
}
