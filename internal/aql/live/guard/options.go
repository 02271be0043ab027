package guard

import (
	"context"
	"time"

	"mcptest/internal/aql/live/tape"
	"mcptest/internal/aql/semantic"
	"mcptest/internal/cassette"
	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
	"mcptest/internal/source"
)

// The modes of a live run, which decide what it may call.
const (
	ModePlan  = "plan"  // only tools/list and introspection
	ModeSafe  = "safe"  // operations of risk 0
	ModeWrite = "write" // and CREATE, UPDATE and DELETE of items that the run itself created
	ModeFull  = "full"  // and EXECUTE, and what is allowed by name
)

// Modes lists the modes of a live run.
func Modes() []string { return []string{ModePlan, ModeSafe, ModeWrite, ModeFull} }

// Options configures a live run. Zero values are the defaults named with each field.
type Options struct {
	// Dial starts a session with the adapter. It is called once, once more when the
	// adapter dies, and once at the end to test that a new session starts with a
	// clean state. variant is "" for the adapter that the user named, or the endpoint
	// mode ("single", "semantic", "crude") of a second launch; a nil session and a
	// nil error mean that there is no such launch.
	Dial func(ctx context.Context, variant string) (*mcp.Session, error)

	Mode        string        // ModeSafe
	Prefix      string        // of the tool names, where an adapter has several
	Tool        string        // the tool that answers introspection; found automatically
	Values      jsonv.Value   // operation → parameter → value; "*" means every operation
	AppendOnly  []string      // operation:field that an update must not change
	Allow, Deny []string      // globs of operation names
	MaxCalls    int           // 2,000
	Rate        float64       // calls a second; 0 is no limit
	CallTimeout time.Duration // 30 s
	Follow      time.Duration // how long an execution is followed to its end, 30 s
	Budget      time.Duration // of the whole run, 10 min
	Spread      time.Duration // how long answers are checked for values that change by themselves, 1.1 s
	RunID       string        // letters and digits; marks what the run creates
	Target      string        // how the adapter is shown, without secrets
	Repeat      string        // the beginning of a command line that repeats a call, e.g. `mcpaql-conformance call --stdio "x"`
	Program     string        // name and version of this program, for the bundle
	Confirm     bool          // send back the tokens with which an adapter requests confirmation
	Journal     Journal       // receives every create before it is sent; may be nil
	Progress    func(Progress)
	Stress      bool            // send requests that exceed the size limits
	Probed      bool            // leave operations that were not called out of the bundle's details
	Secrets     []string        // never stored, see [Mask]
	Asking      semantic.Asking // of models, for the semantic evaluation

	// Record receives all messages between the run and the adapter. The run then has
	// no model.
	Record *cassette.Writer
	// Replay answers instead of an adapter: Dial is not called, nothing waits.
	// Mode and the other options must be those of the recorded run.
	Replay *tape.Recording

	// ValuesFile is the file that Values was read from, nil if there is none. Warn
	// receives warnings about them with their position; it may be nil.
	ValuesFile *source.File
	Warn       func(source.Diagnostic)
}

// Journal records the items that a run is about to create, so that a later clean-up
// finds those that a killed run left.
type Journal interface {
	// Intend is called before a create is sent.
	Intend(operation, marker string) error
	// Created and Deleted are called when the answers arrived. id is absent for a
	// resource that has at most one item; with is an object with the other parameters
	// that name the item.
	Created(operation, parameter string, id, with jsonv.Value) error
	Deleted(parameter string, id jsonv.Value) error
}

// Progress reports how far a live run has advanced.
type Progress struct {
	Phase       string
	Done, Total int // operations
	Calls       int
	Elapsed     time.Duration
}

func (o Options) withDefaults() Options {
	if o.Mode == "" {
		o.Mode = ModeSafe
	}
	if o.MaxCalls <= 0 {
		o.MaxCalls = 2000
	}
	if o.CallTimeout <= 0 {
		o.CallTimeout = 30 * time.Second
	}
	if o.Follow <= 0 {
		o.Follow = 30 * time.Second
	}
	if o.Budget <= 0 {
		o.Budget = 10 * time.Minute
	}
	if o.Spread <= 0 {
		o.Spread = controlTime
	}
	if o.RunID == "" {
		o.RunID = "run"
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	return o
}
