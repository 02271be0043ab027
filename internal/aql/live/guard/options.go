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

// The modes of a live run: what it may call.
const (
	ModePlan  = "plan"  // nothing but tools/list and introspection
	ModeSafe  = "safe"  // operations of risk 0
	ModeWrite = "write" // and CREATE, UPDATE and DELETE of what the run itself created
	ModeFull  = "full"  // and EXECUTE, and what is allowed by name
)

// Modes lists the modes of a live run.
func Modes() []string { return []string{ModePlan, ModeSafe, ModeWrite, ModeFull} }

// Options say how an adapter is looked at while it runs. Zero values are
// the defaults named with each field.
type Options struct {
	// Dial starts a session with the adapter. It is called once, once more
	// when the adapter dies, and once at the end to see that a new session
	// starts afresh. variant is "" for the adapter as the user named it, or
	// an endpoint mode ("single", "semantic", "crude") that a second launch
	// should have; nil session and nil error mean that there is no such
	// launch.
	Dial func(ctx context.Context, variant string) (*mcp.Session, error)

	Mode        string        // ModeSafe
	Prefix      string        // of the tool names, where an adapter has several
	Tool        string        // the tool that answers introspection; found by itself
	Values      jsonv.Value   // operation → parameter → value; "*" means every operation
	AppendOnly  []string      // operation:field of what an update must not change
	Allow, Deny []string      // globs of operation names
	MaxCalls    int           // 2,000
	Rate        float64       // calls a second; 0 is no limit
	CallTimeout time.Duration // 30 s
	Follow      time.Duration // how long an execution is followed to its end, 30 s
	Budget      time.Duration // of the whole run, 10 min
	Spread      time.Duration // how long answers are watched for what changes by itself, 1.1 s
	RunID       string        // letters and digits; marks what the run creates
	Target      string        // how the adapter is shown, without secrets
	Repeat      string        // the beginning of a command line that repeats a call, e.g. `mcpaql-conformance call --stdio "x"`
	Program     string        // name and version of this program, for the bundle
	Confirm     bool          // send back the tokens that an adapter asks to be confirmed with
	Journal     Journal       // notified of every create before it is sent; may be nil
	Progress    func(Progress)
	Stress      bool            // send requests over the limits of size
	Probed      bool            // leave operations that were not called out of the bundle's details
	Secrets     []string        // never written down, see [Mask]
	Asking      semantic.Asking // of models, for the semantic evaluation

	// Record gets everything that passes between the run and the adapter. The
	// run then has no model.
	Record *cassette.Writer
	// Replay answers instead of an adapter: Dial is not called, nothing waits.
	// Mode and the other options must be those of the recorded run.
	Replay *tape.Recording

	// ValuesFile is the file that Values came from, nil when there is none.
	// Warn gets what is odd about them, with the place; it may be nil.
	ValuesFile *source.File
	Warn       func(source.Diagnostic)
}

// Journal records what a run is about to create, so that a later clean-up
// finds what a killed run left.
type Journal interface {
	// Intend is called before a create is sent.
	Intend(operation, marker string) error
	// Created and Deleted follow when the answers came.
	// id is absent for a resource that there is at most one of; with is an
	// object of what else names the thing.
	Created(operation, parameter string, id, with jsonv.Value) error
	Deleted(parameter string, id jsonv.Value) error
}

// Progress is how far a live run is.
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
