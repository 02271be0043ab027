package demo

import (
	"io"
	"slices"
	"strconv"
	"sync"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
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
	// Before may replace an operation on a collection, and the items of the collection.
	Before func(Call) (items []jsonv.Value, done bool)
	// Launch identifies this start, for a defect that depends on it.
	Launch string
}

// Adapter is a running adapter. It is safe for concurrent use.
type Adapter struct {
	o          Options
	defects    map[string]bool
	features   map[string]bool
	own        session // of the only client
	library    library
	resources  []*resource
	operations []*operation
	tools      []jsonv.Value

	mu    sync.Mutex
	items map[string][]jsonv.Value // by the resource's name
	gone  map[string]jsonv.Value   // deleted, by identifier

	executions []*execution
	next       int
	lists      int // operation lists answered
	calls      int
}

func (a *Adapter) is(defect string) bool { return a.defects[defect] }

func (a *Adapter) has(feature string) bool { return a.features[feature] }

// readClock returns the adapter's own time. It advances by a minute with every change, so
// that the same calls get the same answers.
func (a *Adapter) readClock() string {
	first := time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC)
	now := first.Add(time.Duration(a.next) * time.Minute)
	if a.is("dates-local") {
		return now.Format("01/02/2006 15:04")
	}
	return now.Format(time.RFC3339)
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
	item = item.With("created_at", jsonv.String(a.readClock())).With("updated_at", jsonv.String(a.readClock()))
	a.items[r.Name] = append(a.items[r.Name], item)
	return item
}

// findIndex returns the index of the item that parameters name, -1 if there is none.
func (a *Adapter) findIndex(r *resource, params jsonv.Value) int {
	key := "id"
	if r.ByName {
		key = "name"
	}
	return slices.IndexFunc(a.items[r.Name], func(v jsonv.Value) bool {
		return (r.One || v.Lookup(key).Text() == params.Lookup(r.key()).Text()) &&
			(r.Kind == "" || jsonv.Equal(v.Lookup(r.Kind), params.Lookup(r.Kind)))
	})
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

// session is the state of one client: the tokens that it received.
type session map[string]*token

// token confirms one call.
type token struct {
	call string // operation and parameters
	used bool
}

// Call is a call of an operation on a collection, before anything is checked.
type Call struct {
	Operation, Verb string
	Key             string // the parameter that names an item
	ByName          bool   // the caller chooses it
	Params          jsonv.Value
	Items           []jsonv.Value
	At              int // the item that Params name, -1 if there is none
}

func (a *Adapter) find(name string) *operation {
	return lists.First(a.operations, func(o *operation) bool { return o.Name == name })
}

// execution is a running operation. It has no clock of its own: it advances by a step
// with each query, so that the same calls get the same answers.
type execution struct {
	id     string
	status string
	looks  int
}
