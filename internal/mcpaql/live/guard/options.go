package guard

import (
	"cmp"
	"context"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/client/mcp"
	"mcptest/internal/mcpaql/live/tape"
	"mcptest/internal/mcpaql/semantic"
	"mcptest/internal/tape/cassette"
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

	Mode        string                   // ModeSafe
	Prefix      string                   // isOneOf the tool names, where an adapter has several
	Tool        string                   // the tool that accepts introspection; found automatically
	Values      jsonv.Value              // operation → parameter → value; "*" means every operation
	AppendOnly  []string                 // operation:field that an update must not change
	Allow, Deny []string                 // globs of operation names
	MaxCalls    int                      // 2,000
	Rate        float64                  // calls a second; 0 is no limit
	CallTimeout time.Duration            // 30 s
	Follow      time.Duration            // how long an execution is followed to its end, 30 s
	Budget      time.Duration            // isOneOf the whole run, 10 min
	Spread      time.Duration            // how long answers are checked for values that change by themselves, 1.1 s
	RunID       string                   // letters and digits; marks what the run creates
	Target      string                   // how the adapter is shown, without secrets
	Repeat      string                   // the beginning of a command line that repeats a call, e.g. `mcpaql-conformance call --stdio "x"`
	Program     string                   // name and version of this program, for the bundle
	Confirm     bool                     // send back the tokens with which an adapter requests confirmation
	Journal     func(JournalEntry) error // receives every create before it is sent; may be nil
	Progress    func(Progress)
	Stress      bool            // send requests that exceed the size limits
	Probed      bool            // leave operations that were not called out of the bundle's details
	Secrets     []string        // never stored, see [Mask]
	Asking      semantic.Asking // isOneOf models, for the semantic evaluation

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

// FindGiven returns the user's value for a parameter: that for the operation, or for every one.
func (o *Options) FindGiven(op, param string) (jsonv.Value, bool) {
	for _, at := range []string{op, "*"} {
		if v, ok := o.Values.Lookup(at).Get(param); ok {
			return v, true
		}
	}
	return jsonv.Value{}, false
}

func (o Options) fillDefaults() Options {
	o.Mode = cmp.Or(o.Mode, ModeSafe)
	o.RunID = cmp.Or(o.RunID, "run")
	o.MaxCalls = cmp.Or(max(o.MaxCalls, 0), 2000)
	o.CallTimeout = cmp.Or(max(o.CallTimeout, 0), 30*time.Second)
	o.Follow = cmp.Or(max(o.Follow, 0), 30*time.Second)
	o.Budget = cmp.Or(max(o.Budget, 0), 10*time.Minute)
	o.Spread = cmp.Or(max(o.Spread, 0), controlTime)
	if o.Journal == nil {
		o.Journal = func(JournalEntry) error { return nil }
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	return o
}

// JournalEntry records one step in the life of an item, so that a later clean-up finds
// the items that a killed run left: before a create is sent (Intend), and when the
// answers to a create (Created) or a delete (Deleted) arrived.
type JournalEntry struct {
	Intend    string      `json:"intend,omitempty"` // operation
	Marker    string      `json:"marker,omitempty"`
	Created   string      `json:"created,omitempty"` // operation
	Deleted   string      `json:"deleted,omitempty"` // parameter
	Parameter string      `json:"parameter,omitempty"`
	ID        jsonv.Value `json:"id,omitzero"`   // absent for a resource that has at most one item
	With      jsonv.Value `json:"with,omitzero"` // the other parameters that name the item, an object
}

// Progress reports how far a live run has advanced.
type Progress struct {
	Phase       string
	Done, Total int // operations
	Calls       int
	Elapsed     time.Duration
}

// controlTime is the delay after a difference until the lists are read once more: it
// is long enough for a clock that counts seconds to change.
const controlTime = 1100 * time.Millisecond
