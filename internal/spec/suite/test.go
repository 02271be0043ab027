package suite

import (
	"slices"
	"strings"
	"time"

	"mcptest/internal/base/source"
	"mcptest/internal/server/upstream"
	"mcptest/internal/spec/repeat"
)

// Defaults is `defaultTest`: a baseline merged into every test.
type Defaults struct {
	Pos source.Pos
	// Assertions appended to each test's own.
	Expect *source.Node `yaml:"expect"`
	// The threshold of tests that have none.
	Threshold *float64 `yaml:"threshold" example:"0.8" range:"0-1"`
	// The time limit of tests that have none.
	Timeout *time.Duration `yaml:"timeout" example:"10s" range:">0"`
	// The idle_timeout of tests that have none.
	IdleTimeout *time.Duration `yaml:"idle_timeout" example:"5s" range:">0"`
	// The retries of tests that have none.
	Retries *int `yaml:"retries" example:"1" range:"0-100"`
	// Tags added to every test.
	Tags []string `yaml:"tags" example:"[nightly]" schema:"items: {type: string, pattern: '\\S'}"`
	// The server or servers of tests that do not name one.
	Server Names `yaml:"server" example:"api"`
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
	// InvalidArgs is set if the name or the arguments are wrong on purpose.
	InvalidArgs bool
	Call        Invocation // zero if Steps is used, or nothing is called
	Action      Action     // in place of a call; nil if the test makes one
	Steps       []*FlowStep
}

// About documents the purpose of a test. It has no effect; a run copies it into the
// record.
type About struct {
	// Why the test exists; shown in reports.
	Description string `yaml:"description" example:"clients rely on the order of the results"`
}

// Common holds the keys that every test has.
type Common struct {
	// The test's name, unique in the suite.
	Name  string `yaml:"name,required" example:"lists the seeded issues" schema:"pattern: '\\S'"`
	About `yaml:",inline"`
	// The server, or a list: the test then runs once on each. A name with * is a pattern.
	Server Names `yaml:"server" example:"[over-stdio, over-http]"`
	// Assertions and assert-sets, or {assertions, max_duration_ms}.
	Expect *source.Node `yaml:"expect"`
	// The combined score needed to pass, 0 to 1; without it every item must pass.
	Threshold *float64 `yaml:"threshold" example:"0.75" range:"0-1"`
	// Named weighted aggregations over the scores of named items.
	DerivedMetrics *source.Node `yaml:"derivedMetrics"`
	// Words to select tests by.
	Tags []string `yaml:"tags" example:"[smoke]" schema:"items: {type: string, pattern: '\\S'}"`
	// Limit for the test's call or calls.
	Timeout *time.Duration `yaml:"timeout" default:"30s" example:"5s" range:">0"`
	// Limit for the silence of a call: it begins anew with each progress notification. timeout limits the whole call.
	IdleTimeout *time.Duration `yaml:"idle_timeout" example:"5s" range:">0"`
	// How often a failed test is retried.
	Retries *int `yaml:"retries" default:"0" example:"2" range:"0-100"`
	// The reason why this test is not run.
	Skip *Reason `yaml:"skip"`
	// Run only tests with this key; an error in CI.
	Only bool `yaml:"only" default:"false" example:"true"`
	// Run the test several times and require a share of passes.
	Repeat *repeat.Repeat `yaml:"repeat" example:"{times: 10, pass_rate: 0.9}"`
	// Run the test until its share of passes is known well enough.
	Trials *repeat.Trials `yaml:"trials" example:"{want: 0.9, floor: 0.7}"`
	// Run the test once for each row: a list of maps, or a CSV, JSON Lines or YAML file.
	Cases *source.Node `yaml:"cases"`
	// Set to false to exclude the test from defaultTest.
	Defaults *bool `yaml:"defaults" default:"true" example:"false"`
	// Responses to requests from the server during this test.
	Respond *Respond `yaml:"respond"`
	// Routes of this test, by upstream, which are tried before those of the suite.
	Upstream source.Map[[]*upstream.RouteDecl] `yaml:"upstream" example:"{api: [{match: {path: '*'}, reply: {status: 429}, times: 1}]}"`
	// HTTP headers of the test's calls, in addition to those of the server.
	Headers source.Map[Header] `yaml:"headers" example:"{X-Tenant: acme}"`
	// Cancel the call after this time.
	CancelAfter *time.Duration `yaml:"cancel_after" example:"200ms" range:">0"`
	// Wait for a notification after the call.
	Wait *Wait `yaml:"wait" example:"{notification: notifications/resources/updated, timeout: 2s}"`
	// Repeat the call until the assertions hold.
	Until    *Until `yaml:"until" example:"{interval: 500ms, timeout: 10s}"`
	TestKeys `yaml:",inline"`
	// Reserved for a later version.
	Transform *source.Node `yaml:"transform"`
}

// TestKeys holds the keys of a test that a run uses as written: package plan copies
// them together.
type TestKeys struct {
	// Why the test is expected to fail. A failure then counts as skipped, and the test fails if it passes.
	ExpectFailure string `yaml:"expect_failure" example:"the search ignores accents" schema:"pattern: '\\S'"`
	// true: this test may run once more to find out whether another caused its failure, regardless of what its tools declare; false: never.
	DiagnoseIsolation *bool `yaml:"diagnose_isolation" example:"true"`
	// Set the server's log level before the call.
	LogLevel string `yaml:"log_level" enum:"debug|info|notice|warning|error|critical|alert|emergency" example:"debug"`
	// Make the same call on another server, such as a gateway in front of this one, and compare the responses.
	SameAs *SameCall `yaml:"same_as" example:"{server: gateway, prefix: github_}"`
}

// SameCall is `same_as` of a test with a call.
type SameCall struct {
	Pos source.Pos
	// The other server; if it has variants, the one like that of the test's server.
	Server string `yaml:"server,required" example:"gateway" schema:"minLength: 1"`
	// What the other server puts before the name of the tool or prompt, or before the URI.
	Prefix string `yaml:"prefix" example:"github_"`
	// What is compared. Notifications are log messages and progress.
	Compare []string `yaml:"compare" enum:"result|notifications" default:"[result]" example:"[result, notifications]"`
	// Paths below the result that may differ, as in snapshots.
	Ignore *source.Node `yaml:"ignore"`
}

// Compares reports whether a part of the response is compared.
func (s *SameCall) Compares(part string) bool {
	return s != nil && (slices.Contains(s.Compare, part) || len(s.Compare) == 0 && part == "result")
}

// Wait configures waiting for a notification after a call.
type Wait struct {
	Pos source.Pos
	// The notification's method.
	Notification string `yaml:"notification,required" example:"notifications/resources/updated" schema:"minLength: 1"`
	// How long to wait; the test's limit when left out.
	Timeout *time.Duration `yaml:"timeout" example:"2s" range:">0"`
}

// Until configures the repetition of a call until its assertions hold.
type Until struct {
	Pos source.Pos
	// How long to wait between two calls.
	Interval *time.Duration `yaml:"interval" default:"200ms" example:"1s" range:">0"`
	// How long to repeat the call; the test's limit when left out. Each call has the test's limit besides.
	Timeout *time.Duration `yaml:"timeout" example:"10s" range:">0"`
}

// Invocation is one request. The allowed keys depend on the block; a step of a flow
// may use any of them.
type Invocation struct {
	// The tool to call; a name with a slash that is no tool of the server is sent as a method.
	Tool string `yaml:"tool" example:"search" schema:"minLength: 1"`
	// The tool's or prompt's arguments.
	Args *source.Node `yaml:"args"`
	// The resource to read.
	URI string `yaml:"uri" example:"file:///README.md" schema:"minLength: 1"`
	// The prompt to get.
	Prompt string `yaml:"prompt" example:"greeting" schema:"minLength: 1"`
	// The JSON-RPC method to send.
	Method string `yaml:"method" example:"tools/list" schema:"minLength: 1"`
	// Its params, sent unchanged.
	Params *source.Node `yaml:"params"`
	// Send a notification, without waiting for a response.
	Notification bool `yaml:"notification" default:"false" example:"true"`
	// Literal bytes to send instead of a request.
	Raw *source.Node `yaml:"raw"`
}

// calls reports whether the test sends something. A test that only examines what
// the server offers does not.
func (c *Invocation) calls() bool {
	return c.Tool != "" || c.URI != "" || c.Prompt != "" || c.Method != "" || c.Raw != nil
}

// FlowStep is one step of a flow.
type FlowStep struct {
	Pos  source.Pos
	Path string
	// The step's name, for reports and the steps target.
	Name string `yaml:"name" example:"create"`
	// The server, if it differs from the test's.
	Server     string `yaml:"server" example:"api" schema:"minLength: 1"`
	Invocation `yaml:",inline"`
	// The name, the URI or the arguments are wrong on purpose: they are not compared with the lists of the server.
	InvalidArgs bool `yaml:"invalid_args" default:"false" example:"true"`
	// The assertions on this step's response.
	Expect *source.Node `yaml:"expect"`
	// Values to capture: name → target, or {target, regex} for a part of a text. Later steps use them as ${steps.name}.
	Capture source.Map[Capture] `yaml:"capture" example:"{id: structured.id}"`
	// Responses to requests from the server during this step.
	Respond *Respond `yaml:"respond"`
	// Limit for this step's call.
	Timeout *time.Duration `yaml:"timeout" example:"5s" range:">0"`
	// Cancel the call after this time.
	CancelAfter *time.Duration `yaml:"cancel_after" example:"200ms" range:">0"`
	// Wait for a notification after the call.
	Wait *Wait `yaml:"wait" example:"{notification: notifications/tools/list_changed}"`
	// Repeat the call until the step's assertions hold.
	Until *Until `yaml:"until" example:"{interval: 500ms, timeout: 10s}"`
}

// Capture says which value a step captures.
type Capture struct {
	Target *source.Node
	Regex  *source.Node // of the part to capture; nil for the whole value
}

// captureKeys is a capture written as a map.
type captureKeys struct {
	// The target that contains the text.
	Target *source.Node `yaml:"target,required"`
	// A regular expression; its group, or the whole match if it has none, is captured.
	Regex *source.Node `yaml:"regex,required"`
}

// DecodeNode reads a target or {target, regex}.
func (c *Capture) DecodeNode(n *source.Node, path string, d *source.Decoder) {
	if n.Kind != source.KindMap {
		c.Target = n
		return
	}
	for _, key := range []string{"path", "from", "jsonpath", "json", "value", "selector"} {
		if at := n.Get(key); at != nil && n.Get("target") == nil && at.IsScalar() {
			mistake := d.Errorf(n, path, "expected a target, got a map")
			mistake.Hint = "write the target alone: " + at.Text + "; for a part of a text: {target: …, regex: …}"
			return
		}
	}
	var keys captureKeys
	d.Decode(n, path, &keys)
	*c = Capture(keys)
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
	var one Text
	if s.List = d.DecodeOneOrMany(n, path, &s.Items, &one, "expected a server's name or a list of names, got an empty list"); !s.List {
		s.Items = []Text{one}
	}
	checkNotEmpty(n, path, d)
	for i, item := range n.Items {
		checkNotEmpty(item, source.PathIndex(path, i), d)
	}
}

// checkNotEmpty reports an empty server name, which would otherwise count as no name.
func checkNotEmpty(n *source.Node, path string, d *source.Decoder) {
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
		d.ReportWrongType(n, path, "a reason (text)")
	}
}
