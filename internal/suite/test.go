package suite

import (
	"strings"
	"time"

	"mcptest/internal/source"
	"mcptest/internal/upstream"
)

// Defaults is `defaultTest`: a baseline merged into every test.
type Defaults struct {
	Pos source.Pos
	// Assertions appended to each test's own.
	Expect *source.Node `yaml:"expect"`
	// The threshold of tests that have none.
	Threshold *float64 `yaml:"threshold"`
	// The time limit of tests that have none.
	Timeout *time.Duration `yaml:"timeout"`
	// The retries of tests that have none.
	Retries *int `yaml:"retries"`
	// Tags added to every test.
	Tags []string `yaml:"tags"`
	// The server or servers of tests that do not name one.
	Server Names `yaml:"server"`
	// Metrics added to each test's own, by name.
	DerivedMetrics *source.Node `yaml:"derivedMetrics"`

	node *source.Node // as written
}

// Test is a test as written, after interpolation.
type Test struct {
	Pos   source.Pos
	Block Block
	Path  string
	Node  *source.Node
	Common
	// InvalidArgs is set if the arguments are wrong on purpose.
	InvalidArgs bool
	Call        Invocation // zero if Steps is used, or nothing is called
	Steps       []*FlowStep
}

// About documents the purpose of a test. It has no effect; a run copies it into the
// record.
type About struct {
	// Why the test exists; shown in reports.
	Description string `yaml:"description"`
}

// Common holds the keys that every test has.
type Common struct {
	// The test's name, unique in the suite.
	Name  string `yaml:"name,required"`
	About `yaml:",inline"`
	// The server, or a list: the test then runs once on each. A name with * is a pattern.
	Server Names `yaml:"server"`
	// Assertions and assert-sets, or {assertions, max_duration_ms}.
	Expect *source.Node `yaml:"expect"`
	// The combined score needed to pass, 0 to 1; without it every item must pass.
	Threshold *float64 `yaml:"threshold"`
	// Named weighted aggregations over the scores of named items.
	DerivedMetrics *source.Node `yaml:"derivedMetrics"`
	// Words to select tests by.
	Tags []string `yaml:"tags"`
	// Limit for the test's call or calls.
	Timeout *time.Duration `yaml:"timeout"`
	// How often a failed test is retried.
	Retries *int `yaml:"retries"`
	// The reason why this test is not run.
	Skip *Reason `yaml:"skip"`
	// Run only tests with this key; an error in CI.
	Only bool `yaml:"only"`
	// Run the test several times and require a share of passes.
	Repeat *Repeat `yaml:"repeat"`
	// Run the test once for each row: a list of maps, or a CSV, JSON Lines or YAML file.
	Cases *source.Node `yaml:"cases"`
	// Set to false to exclude the test from defaultTest.
	Defaults *bool `yaml:"defaults"`
	// Responses to requests from the server during this test.
	Respond *Respond `yaml:"respond"`
	// Routes of this test, by upstream, which are tried before those of the suite.
	Upstream source.Map[[]*upstream.RouteDecl] `yaml:"upstream"`
	// HTTP headers of the test's calls, in addition to those of the server.
	Headers source.Map[Header] `yaml:"headers"`
	// Cancel the call after this time.
	CancelAfter *time.Duration `yaml:"cancel_after"`
	// Wait for a notification after the call.
	Wait *Wait `yaml:"wait"`
	// Set the server's log level before the call.
	LogLevel string `yaml:"log_level" enum:"debug|info|notice|warning|error|critical|alert|emergency"`
	// Reserved for a later version.
	Transform *source.Node `yaml:"transform"`
}

// Repeat configures repeated runs of a test.
type Repeat struct {
	Pos source.Pos
	// The number of runs.
	Times int `yaml:"times,required"`
	// The share of passes needed, 0 to 1; 1 when left out.
	PassRate *float64 `yaml:"pass_rate"`
}

// Wait configures waiting for a notification after a call.
type Wait struct {
	Pos source.Pos
	// The notification's method.
	Notification string `yaml:"notification,required"`
	// How long to wait; the test's limit when left out.
	Timeout *time.Duration `yaml:"timeout"`
}

// Invocation is one request. The allowed keys depend on the block; a step of a flow
// may use any of them.
type Invocation struct {
	// The tool to call; a name with a slash that is no tool of the server is sent as a method.
	Tool string `yaml:"tool"`
	// The tool's or prompt's arguments.
	Args *source.Node `yaml:"args"`
	// The resource to read.
	URI string `yaml:"uri"`
	// The prompt to get.
	Prompt string `yaml:"prompt"`
	// The JSON-RPC method to send.
	Method string `yaml:"method"`
	// Its params, sent unchanged.
	Params *source.Node `yaml:"params"`
	// Send a notification, without waiting for a response.
	Notification bool `yaml:"notification"`
	// Literal bytes to send instead of a request.
	Raw *source.Node `yaml:"raw"`
}

// Calls reports whether the test sends something. A test that only examines what
// the server offers does not.
func (c *Invocation) Calls() bool {
	return c.Tool != "" || c.URI != "" || c.Prompt != "" || c.Method != "" || c.Raw != nil
}

// FlowStep is one step of a flow.
type FlowStep struct {
	Pos  source.Pos
	Path string
	// The step's name, for reports and the steps target.
	Name string `yaml:"name"`
	// The server, if it differs from the test's.
	Server     string `yaml:"server"`
	Invocation `yaml:",inline"`
	// The assertions on this step's response.
	Expect *source.Node `yaml:"expect"`
	// Values to capture: name → target. Later steps use them as ${steps.name}.
	Capture source.Map[*source.Node] `yaml:"capture"`
	// Responses to requests from the server during this step.
	Respond *Respond `yaml:"respond"`
	// Limit for this step's call.
	Timeout *time.Duration `yaml:"timeout"`
	// Cancel the call after this time.
	CancelAfter *time.Duration `yaml:"cancel_after"`
	// Wait for a notification after the call.
	Wait *Wait `yaml:"wait"`
}

// Names is one name or a list of names.
type Names struct {
	Pos   source.Pos
	Items []Text
	List  bool // written as a list
}

// DecodeNode reads a name or a list of names.
func (s *Names) DecodeNode(n *source.Node, path string, d *source.Decoder) {
	s.Pos = n.Pos
	if n.Kind == source.KindList {
		s.List = true
		d.Decode(n, path, &s.Items)
		if len(n.Items) == 0 {
			d.Errorf(n, path, "expected a server's name or a list of names, got an empty list")
		}
		for i, item := range n.Items {
			notEmpty(item, source.PathIndex(path, i), d)
		}
		return
	}
	s.Items = make([]Text, 1)
	d.Decode(n, path, &s.Items[0])
	notEmpty(n, path, d)
}

// notEmpty reports an empty server name, which would otherwise count as no name.
func notEmpty(n *source.Node, path string, d *source.Decoder) {
	if n.Kind == source.KindString && n.Text == "" {
		d.Errorf(n, path, "a server's name is empty")
	}
}

// Reason is the text of `skip:`. `skip: true` has no text, and `skip: false` does
// not skip.
type Reason struct {
	Set  bool
	Text string
}

// DecodeNode reads a reason, or true.
func (r *Reason) DecodeNode(n *source.Node, path string, d *source.Decoder) {
	switch n = n.Typed(); n.Kind {
	case source.KindString:
		r.Set, r.Text = true, n.Text
		if strings.TrimSpace(n.Text) == "" {
			d.Errorf(n, path, "the reason is empty")
		}
	case source.KindBool:
		r.Set = n.Text == "true"
		r.Text = "skipped by the suite"
	default:
		d.WrongType(n, path, "a reason (text)")
	}
}
