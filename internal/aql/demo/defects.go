package demo

import (
	"slices"
	"sync"

	"mcptest/internal/jsonv"
)

// tables holds the lists of what can be switched on.
var tables = sync.OnceValue(readLibrary)

// Defect is a fault that can be switched on in the adapter.
type Defect struct {
	Name string
	Doc  string
	// Feature is the feature that the defect requires, or "stress" for a defect that
	// only --stress shows; "" for none.
	Feature string
	// Rows are the ids of the tests whose rows the defect changes in a report
	// of level 2 in write mode, or in full mode for those about executions.
	Rows []string
}

// Feature is an addition to the library.
type Feature struct{ Name, Doc string }

// Hazard is a way to lose the data of others: an operation that acts on everything
// unless it is given a target. No call of a run may trigger it, so a hazard, unlike a
// defect, changes no row of a report.
type Hazard struct{ Name, Doc string }

// Defects returns the table of defects.
func Defects() []Defect { return tables().Defects }

// Features lists the possible additions to the library.
func Features() []Feature { return tables().Features }

// Hazards returns the table of hazards.
func Hazards() []Hazard { return tables().Hazards }

// decide approves the request that parameters name.
func (a *Adapter) decide(r *resource, params jsonv.Value) (jsonv.Value, *failure) {
	i := a.index(r, params)
	if i < 0 {
		return jsonv.Value{}, a.missing(r, params.Lookup(r.key()).Text())
	}
	a.items[r.Name][i] = a.items[r.Name][i].With("decision", jsonv.String("yes"))
	return a.saved(a.items[r.Name][i])
}

// hazardous triggers a hazard if a call does so. Nothing is checked before.
func (a *Adapter) hazardous(op *operation, params jsonv.Value) bool {
	if len(a.o.Hazards) == 0 || op.res == nil || op.res.One {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	kind := ""
	v, given := params.Get(op.res.key())
	i := a.index(op.res, params)
	switch {
	case op.Verb == "create" && op.res.ByName && slices.Contains(a.o.Hazards, "create-lies"):
		return true
	case op.Verb == "create" && i >= 0 && op.res.ByName:
		kind = "known"
	case op.Verb == "create":
	case !given:
		kind = "unnamed"
	case v.Text() == "":
		kind = "mistyped"
	case i < 0:
		kind = "unknown"
	}
	if kind == "" || !slices.Contains(a.o.Hazards, op.Verb+"-"+kind) {
		return false
	}
	all := a.items[op.res.Name]
	switch {
	case kind == "known":
		all = all[i : i+1]
	case kind == "unknown" && len(all) > 0:
		all = all[len(all)-1:]
	}
	for i := range all {
		all[i] = all[i].With("spoilt_by", jsonv.String(op.Name))
	}
	if op.Verb == "delete" {
		a.items[op.res.Name] = a.items[op.res.Name][:len(a.items[op.res.Name])-len(all)]
	}
	_ = a.save()
	return true
}
