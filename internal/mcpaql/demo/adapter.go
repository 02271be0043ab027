package demo

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
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
	if err == nil {
		err = osfile.Replace(a.o.State, data, 0o666)
	}
	if err != nil {
		return fmt.Errorf("keep the library: %w", err)
	}
	return nil
}

// saveAnswer stores the library after a change, and returns the answer to the call.
func (a *Adapter) saveAnswer(answer jsonv.Value) (jsonv.Value, *failure) {
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

// session is the state of one client: the tokens that it received.
type session map[string]*token

// token confirms one call.
type token struct {
	call string // operation and parameters
	used bool
}

// execution is a running operation. It has no clock of its own: it advances by a step
// with each query, so that the same calls get the same answers.
type execution struct {
	id     string
	status string
	looks  int
}

// The states of an execution (D 8.4.1).
const (
	pending   = "pending"
	running   = "running"
	completed = "completed"
	cancelled = "cancelled"
)

// looksToEnd is the number of queries until an execution is completed.
const looksToEnd = 3

// begin starts an execution.
func (a *Adapter) begin() jsonv.Value {
	x := &execution{id: "run_" + strconv.Itoa(len(a.executions)+1), status: pending}
	a.executions = append(a.executions, x)
	return a.describeState(x)
}

func (a *Adapter) describeState(x *execution) jsonv.Value {
	status := x.status
	if a.is("execution-own-state") && x.status == running {
		status = "busy"
	}
	return jsonv.ObjectOf("execution_id", x.id, "status", status)
}

// runOnExecution runs an operation about one execution.
func (a *Adapter) runOnExecution(op *operation, params jsonv.Value) (jsonv.Value, *failure) {
	id := params.Lookup("execution_id").Text()
	i := slices.IndexFunc(a.executions, func(e *execution) bool { return e.id == id })
	if i < 0 {
		return jsonv.Value{}, refuse("NOT_FOUND_RESOURCE", "No execution has the execution_id '%s'.", id)
	}
	x := a.executions[i]
	ended := x.status == completed || x.status == cancelled
	if op.Verb == "state" {
		a.advance(x, ended)
		return a.describeState(x), nil
	}
	late := a.is("execution-late-step") && op.Verb == "step" || a.is("execution-late-abort") && op.Verb == "abort"
	if ended && !late {
		return jsonv.Value{}, refuse("CONFLICT_INVALID_STATE", "The execution '%s' is %s: it takes no more of %s.", x.id, x.status, op.Name)
	}
	switch {
	case ended:
	case op.Verb == "step":
		x.status = running
	case op.Verb == "complete":
		x.status = completed
	case a.is("abort-refused"):
		return jsonv.Value{}, refuse("PERMISSION_DENIED", "The execution '%s' can't be aborted.", x.id)
	case !a.is("abort-ignored"):
		x.status = cancelled
	}
	switch {
	case op.Verb != "step":
		return a.describeState(x), nil
	case a.is("step-bare"):
		return jsonv.ObjectOf("recorded", true), nil
	}
	return jsonv.ObjectOf("continue", true, "factors", []string{"Sorting the catalog changes nothing that is lent."}), nil // D 8.7.1
}

// advance advances an execution by one step.
func (a *Adapter) advance(x *execution, ended bool) {
	x.looks++
	switch {
	case ended && a.is("execution-restarts") && x.status == completed:
		x.status, x.looks = running, 0
	case ended:
	case x.looks >= looksToEnd && !a.is("execution-endless"):
		x.status = completed
	default:
		x.status = running
	}
}
