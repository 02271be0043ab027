package demo

import (
	"slices"

	"mcptest/internal/jsonv"
)

// Hazard is a way to lose the data of others: an operation that acts on everything
// unless it is given a target. No call of a run may trigger it, so a hazard, unlike a
// defect, changes no row of a report.
type Hazard struct{ Name, Doc string }

// Hazards returns the table of hazards.
func Hazards() []Hazard {
	return []Hazard{
		{"update-unnamed", "An update without its identifier changes everything, on every endpoint."},
		{"update-mistyped", "An update whose identifier is not a text, or empty, changes everything."},
		{"update-unknown", "An update of something that does not exist changes the newest instead."},
		{"delete-unnamed", "A delete without its identifier removes everything, on every endpoint."},
		{"delete-mistyped", "A delete whose identifier is not a text, or empty, removes everything."},
		{"delete-unknown", "A delete of something that does not exist removes the newest instead."},
		{"create-known", "A create under a key that is taken writes over what has it."},
		{"create-lies", "A create of what is known by its name alone says so, and creates nothing."},
		{"decide-unnamed", "Approving, aborting and confirming without an identifier decides every request."},
	}
}

// addRequests adds the data for a hazard about decisions: requests of others, and
// operations that decide them.
func (a *Adapter) addRequests() {
	r := &resource{name: "request", plural: "requests", fields: []param{
		{name: "wish", typ: "string", doc: "What is asked for.", required: true, minLen: 1, maxLen: 80},
		{name: "decision", typ: "string", doc: "What was decided."},
	}, seed: []jsonv.Value{
		jsonv.From(map[string]any{"wish": "a quiet corner"}),
		jsonv.From(map[string]any{"wish": "a louder bell"}),
	}}
	a.addCollection(r)
	a.operations = slices.DeleteFunc(a.operations, func(o *operation) bool { return o.res == r && o.verb != "list" && o.verb != "get" })
	named := param{name: "request_id", typ: "string", doc: "As list_requests gives it under id.", required: true}
	token := param{name: "token", typ: "string", doc: "What the request was answered with.", required: true}
	decide := func(name, doc string, params ...param) {
		a.operations = append(a.operations, &operation{name: name, category: "EXECUTE", verb: "decide", doc: doc, params: params, returns: [2]string{"Request", "object"}, res: r})
	}
	decide("approve_request", "Says yes to a request.", named)
	decide("abort_request", "Ends a request.", named)
	decide("confirm_operation", "Confirms what was asked for.", token)
	decide("process_queue", "Decides the oldest request.")
}

// addSettings adds the data for a hazard about keys: items whose keys come from a
// small set.
func (a *Adapter) addSettings() {
	a.addCollection(&resource{name: "setting", plural: "settings", byName: true, fields: []param{
		{name: "name", typ: "string", doc: "What is set.", required: true, enum: []string{"light", "heating"}},
		{name: "value", typ: "string", doc: "How.", required: true, minLen: 1, maxLen: 80},
	}, seed: []jsonv.Value{jsonv.From(map[string]any{"name": "light", "value": "dim"})}})
}

// decide approves the request that parameters name.
func (a *Adapter) decide(r *resource, params jsonv.Value) (jsonv.Value, *failure) {
	id := params.Lookup(r.key()).Text()
	i := a.index(r, params)
	if i < 0 {
		return jsonv.Value{}, a.missing(r, id)
	}
	a.items[r.name][i] = a.items[r.name][i].With("decision", jsonv.String("yes"))
	_ = a.save()
	return a.items[r.name][i], nil
}

// hazardous triggers a hazard if a call does so. Nothing is checked before.
func (a *Adapter) hazardous(op *operation, params jsonv.Value) bool {
	if len(a.o.Hazards) == 0 || op.res == nil || op.res.one {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	kind := ""
	v, given := params.Get(op.res.key())
	i := a.index(op.res, params)
	switch {
	case op.verb == "create" && op.res.byName && slices.Contains(a.o.Hazards, "create-lies"):
		return true
	case op.verb == "create" && i >= 0 && op.res.byName:
		kind = "known"
	case op.verb == "create":
	case !given:
		kind = "unnamed"
	case v.Text() == "":
		kind = "mistyped"
	case i < 0:
		kind = "unknown"
	}
	if kind == "" || !slices.Contains(a.o.Hazards, op.verb+"-"+kind) {
		return false
	}
	all := a.items[op.res.name]
	switch {
	case kind == "known":
		all = all[i : i+1]
	case kind == "unknown" && len(all) > 0:
		all = all[len(all)-1:]
	}
	for i := range all {
		all[i] = all[i].With("spoilt_by", jsonv.String(op.name))
	}
	if op.verb == "delete" {
		a.items[op.res.name] = a.items[op.res.name][:len(a.items[op.res.name])-len(all)]
	}
	_ = a.save()
	return true
}
