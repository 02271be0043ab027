package demo

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/osfile"
)

// The endpoint modes.
const (
	ModeAll    = "all"    // semantic endpoints and the single one
	ModeCrude  = "crude"  // one endpoint per category
	ModeSingle = "single" // one endpoint for everything
)

// Modes lists the modes.
func Modes() []string { return []string{ModeAll, ModeCrude, ModeSingle} }

// Options selects the kind of adapter.
type Options struct {
	Mode       string   // ModeAll when empty
	Defects    []string // names of Defects
	Operations int      // at least this many, by further collections; 0: no more than needed
	// Log receives one JSON object per line for each call of an operation:
	// {operation, category, does, tool, params}. does is the real effect of the
	// operation, independent of the category that a defect makes it declare: read,
	// create, update, delete or execute.
	Log io.Writer
	// State is the file that stores the library, so that it outlives the adapter; ""
	// keeps it in memory.
	State string
	// Features names additions to the library that conformance does not require; see
	// Features.
	Features []string
	// Hazards lists names of Hazards.
	Hazards []string
	// Launch identifies this start, for a defect that depends on it.
	Launch string
}

// Adapter is a running adapter. It is safe for concurrent use.
type Adapter struct {
	o          Options
	defects    map[string]bool
	features   map[string]bool
	own        *session // of the only client
	library    library
	resources  []*resource
	operations []*operation

	mu    sync.Mutex
	items map[string][]jsonv.Value // by the resource's name
	gone  map[string]jsonv.Value   // deleted, by identifier

	executions []*execution
	next       int
	lists      int // operation lists answered
	calls      int
}

// New returns an adapter with the initial library, or with the one stored in
// Options.State.
func New(o Options) (*Adapter, error) {
	if o.Mode == "" {
		o.Mode = ModeAll
	}
	if !slices.Contains(Modes(), o.Mode) {
		return nil, fmt.Errorf("mode %q: expected one of %s", o.Mode, strings.Join(Modes(), ", "))
	}
	a := &Adapter{o: o, defects: map[string]bool{}, features: map[string]bool{}, own: newSession(), items: map[string][]jsonv.Value{}, gone: map[string]jsonv.Value{}}
	for _, d := range o.Defects {
		if !slices.ContainsFunc(Defects(), func(known Defect) bool { return known.Name == d }) {
			return nil, fmt.Errorf("there is no defect %q", d)
		}
		a.defects[d] = true
	}
	for _, f := range Features() {
		a.features[f.Name] = slices.Contains(o.Features, f.Name)
		for _, d := range Defects() {
			a.features[f.Name] = a.features[f.Name] || a.defects[d.Name] && d.Feature == f.Name
		}
	}
	if a.is("semantic-only") {
		a.o.Mode = ModeCrude
	}
	a.build(o.Operations)
	for _, r := range a.resources {
		for _, s := range r.Seed {
			a.insert(r, s)
		}
	}
	return a, a.load()
}

func (a *Adapter) is(defect string) bool { return a.defects[defect] }

func (a *Adapter) has(feature string) bool { return a.features[feature] }

// clock returns the adapter's own time. It advances by a minute with every change, so
// that the same calls get the same answers.
func (a *Adapter) clock() string {
	t := time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC).Add(time.Duration(a.next) * time.Minute)
	if a.is("dates-local") {
		return t.Format("01/02/2006 15:04")
	}
	return t.Format(time.RFC3339)
}

// insert adds an item with the fields that the adapter assigns.
func (a *Adapter) insert(r *resource, v jsonv.Value) jsonv.Value {
	a.next++
	item := jsonv.Object()
	if !r.ByName {
		item = item.With("id", jsonv.String(r.Name+"_"+strconv.Itoa(a.next)))
	}
	for k, e := range v.Members() {
		item = item.With(k, e)
	}
	item = item.With("created_at", jsonv.String(a.clock())).With("updated_at", jsonv.String(a.clock()))
	a.items[r.Name] = append(a.items[r.Name], item)
	return item
}

// index returns the index of the item that parameters name, -1 if there is none.
func (a *Adapter) index(r *resource, params jsonv.Value) int {
	key := "id"
	if r.ByName {
		key = "name"
	}
	return slices.IndexFunc(a.items[r.Name], func(v jsonv.Value) bool {
		return (r.One || v.Lookup(key).Text() == params.Lookup(r.key()).Text()) &&
			(r.Kind == "" || jsonv.Equal(v.Lookup(r.Kind), params.Lookup(r.Kind)))
	})
}

// state is the content of Options.State.
type state struct {
	Next  int                      `json:"next"`
	Items map[string][]jsonv.Value `json:"items"`
}

func (a *Adapter) load() error {
	if a.o.State == "" {
		return nil
	}
	data, err := os.ReadFile(a.o.State)
	if os.IsNotExist(err) {
		return a.save()
	}
	if err != nil {
		return fmt.Errorf("read the library: %w", err)
	}
	var s state
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("read the library %s: %w", a.o.State, err)
	}
	a.next, a.items = s.Next, s.Items
	return nil
}

// save stores the library. The file is replaced as a whole, so that a kill leaves the
// old or the new one.
func (a *Adapter) save() error {
	if a.o.State == "" {
		return nil
	}
	data, err := json.Marshal(state{a.next, a.items})
	if err != nil {
		return fmt.Errorf("keep the library: %w", err)
	}
	if err := osfile.Replace(a.o.State, data, 0o666); err != nil {
		return fmt.Errorf("keep the library: %w", err)
	}
	return nil
}

// saved stores the library after a change, and returns the answer to the call.
func (a *Adapter) saved(answer jsonv.Value) (jsonv.Value, *failure) {
	if a.save() != nil {
		return jsonv.Value{}, refuse("INTERNAL_ERROR", "The library could not be kept.")
	}
	return answer, nil
}

// record writes a call to the log before it has an effect.
func (a *Adapter) record(op *operation, tool string, params jsonv.Value) {
	if a.o.Log == nil {
		return
	}
	line := jsonv.ObjectOf("operation", op.Name, "category", op.Category, "does", op.does(), "tool", tool, "params", params)
	_, _ = a.o.Log.Write(line.Append(nil))
	_, _ = a.o.Log.Write([]byte("\n"))
}

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
