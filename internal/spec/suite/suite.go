package suite

import (
	"time"

	"mcptest/internal/base/source"
	"mcptest/internal/server/upstream"
	"mcptest/internal/spec/agent"
	"mcptest/internal/spec/suite/dotenv"
	"mcptest/internal/spec/suite/interpolate"
	"mcptest/internal/spec/suite/variants"
)

// Suite is one suite file with everything it imports.
type Suite struct {
	Name  string
	File  *source.File // the root file
	Dir   string       // absolute directory of the root file
	Files []string     // absolute paths of all files read or missing, root first

	Servers       []*Server
	Programs      []variants.Program // they print variants
	Unknown       []string           // servers whose variants a program prints, which was not run
	DefaultServer string
	DefaultPos    source.Pos
	Env           []Var // suite-level environment, in order
	DefaultTest   *Defaults
	Entries       []Entry // every test, in file order; imports follow the root
	Hooks         Hooks
	Setup         []*Step
	SetupPerTest  []*Step
	Teardown      []*Step
	// TeardownPerTest are the steps after each test.
	TeardownPerTest []*Step
	Options         RunOptions
	Coverage        *Coverage // nil: not measured for this suite
	Upstreams       source.Map[*upstream.Declaration]
	Models          source.Map[*agent.Model]

	// Variables are the resolved `variables:`, for context hooks.
	Variables []Variable
	// Random are the values of ${random.KEY} that the suite uses, by key.
	Random map[string]string
	// Secrets are values that must not appear in any output.
	Secrets []string
	// DotEnv holds the variables of .env (or --env-file) in order, including those
	// that the environment overrides.
	DotEnv []Var
	// EnvRead are the variables of the environment and of .env whose values the
	// files use, by name; EnvMissing are the names that were not set.
	EnvRead    []Var
	EnvMissing []string
	// Partial is set if a file or server could not be read: names that seem to be
	// missing may be declared there.
	Partial bool
	// UnusedVars are the names given by --var that the suite neither declares nor
	// uses; VarNames are the declared ones.
	UnusedVars, VarNames []string
}

// Server returns the server of that name, or nil.
func (s *Suite) Server(name string) *Server {
	for _, sv := range s.Servers {
		if sv.Name == name {
			return sv
		}
	}
	return nil
}

// Var is one environment entry.
type Var = dotenv.Var

// Entry is a test before interpolation.
type Entry struct {
	Block Block
	Node  *source.Node
	Path  string             // "tools[2]"
	Scope *interpolate.Scope // names that `${…}` may use in this file
}

// document is the shape of one suite file.
type document struct {
	Pos source.Pos
	// A name for reports and hooks; the file name without its extension when left out.
	Name string `yaml:"name" example:"shop api"`
	// The MCP servers under test, by name.
	Servers source.Map[*Server] `yaml:"servers" example:"{api: {command: [node, server.js]}}"`
	// The APIs behind the servers, by name, which test doubles replace.
	Upstreams source.Map[*upstream.Declaration] `yaml:"upstreams"`
	// The language models of conversations and judges, by name.
	Models source.Map[*agent.Model] `yaml:"models" example:"{small: {api: openai, url: \"https://api.example.com/v1\", model: small-1, key_env: MODEL_KEY}}"`
	// The server of tests that do not name one. If the suite declares one server, that is the default.
	DefaultServer string `yaml:"default_server" example:"api" schema:"minLength: 1"`
	// Other suite files merged into this one, relative to this file.
	Imports []string `yaml:"imports" example:"[common.yaml]" schema:"items: {type: string, minLength: 1}"`
	// Values for ${name}.
	Variables source.Map[*variableDecl] `yaml:"variables"`
	// Environment passed to servers, hooks and fixture steps alike.
	Env source.Map[scalar] `yaml:"env" example:"{MODE: test}"`
	// Defaults merged into every test.
	DefaultTest *Defaults `yaml:"defaultTest" example:"{expect: [{target: result.isError, matcher: {exact: false}}]}"`
	lists       `yaml:",inline"`
	// Programs run around the run and around each test.
	Hooks Hooks `yaml:"hooks" example:"{beforeAll: ./scripts/seed-db.sh}"`
	// Steps that run once before any test of the file.
	Setup []*Step `yaml:"setup" example:"[{run: [./seed.sh, '5'], timeout: 30s}]"`
	// Steps that run before every test.
	SetupPerTest []*Step `yaml:"setup_per_test" example:"[{call: {tool: reset_state}}]"`
	// Steps that run after every test whose setup_per_test has begun.
	TeardownPerTest []*Step `yaml:"teardown_per_test"`
	// Steps that run once after all tests of the file.
	Teardown []*Step `yaml:"teardown"`
	// The coverage that the tests must reach, in percent of what each server offers. If one is missed, the run exits with 6.
	Coverage *Coverage `yaml:"coverage" example:"{tools: 80}"`
	// How the tests are run.
	RunOptions RunOptions `yaml:"run_options" example:"{parallel: 4, timeout: 10s}"`

	tests *source.Node // the value of the unknown key tests, for a hint
}

// Coverage holds the minimum share, in percent, of what a server offers that the
// tests of a suite must examine.
type Coverage struct {
	// Tools that a test calls with an assertion on the result.
	Tools *int `yaml:"tools" example:"80" range:"0-100"`
	// Arguments that such calls send.
	Arguments *int `yaml:"arguments" example:"50" range:"0-100"`
	// Members of objects in arguments, also in lists, that such calls send.
	NestedArguments *int `yaml:"nested_arguments" example:"30" range:"0-100"`
	// Values of enums that such calls send.
	EnumValues *int `yaml:"enum_values" example:"50" range:"0-100"`
	// Resources and resource templates that a test reads with an assertion on the result.
	Resources *int `yaml:"resources" example:"100" range:"0-100"`
	// Prompts that a test gets with an assertion on the result.
	Prompts *int `yaml:"prompts" example:"100" range:"0-100"`
	// Hints in the annotations of tools that an assertion examines.
	Annotations *int `yaml:"annotations" example:"100" range:"0-100"`
}

// Minimums returns the minimum shares by key; nil means no minimum.
func (c *Coverage) Minimums() map[string]*int {
	return map[string]*int{
		"tools": c.Tools, "arguments": c.Arguments, "nested_arguments": c.NestedArguments,
		"enum_values": c.EnumValues, "resources": c.Resources, "prompts": c.Prompts, "annotations": c.Annotations,
	}
}

// RunOptions define how the tests of a file are run.
type RunOptions struct {
	Pos source.Pos
	// Calls in flight per server: auto (one at a time, in file order), false (the whole file one at a time), or a number, which promises that the tests are independent.
	Parallel *Parallel `yaml:"parallel" default:"auto" example:"4"`
	// When a server is started afresh: per_run, per_file or per_test.
	RestartPolicy string `yaml:"restart_policy" enum:"per_run|per_file|per_test" default:"per_run" example:"per_test"`
	// Limit for the call or calls of a test; 30s when left out.
	Timeout *time.Duration `yaml:"timeout" default:"30s" example:"10s" range:">0"`
	// Limit for the silence of a call: it begins anew with each progress notification.
	IdleTimeout *time.Duration `yaml:"idle_timeout" example:"5s" range:">0"`
	// How often a failed test is retried.
	Retries *int `yaml:"retries" default:"0" example:"2" range:"0-100"`
	// Stop at the first failure.
	FailFast *bool `yaml:"fail_fast" default:"false" example:"true"`
	// Fail tests whose arguments are unknown to the tool's inputSchema, missing or of another type; otherwise that is a warning.
	StrictArgs bool `yaml:"strict_args" default:"false" example:"true"`
	// A failed test may run once more alone, and after earlier tests, to find out whether one of them caused the failure. Without it only tests do whose tools declare readOnlyHint or idempotentHint.
	DiagnoseIsolation bool `yaml:"diagnose_isolation" default:"false" example:"true"`
	// What an inconclusive test does to the exit code: gate (6 if nothing is worse), pass (nothing), or fail (1). Reports always say inconclusive.
	Inconclusive string `yaml:"inconclusive" enum:"gate|pass|fail" default:"gate" example:"fail"`
}

// Parallel is `auto`, `false` or a number of calls in flight.
type Parallel struct {
	Pos  source.Pos
	Auto bool
	N    int // 1 for false
}

// DecodeNode reads auto, false or a number.
func (p *Parallel) DecodeNode(n *source.Node, path string, d *source.Decoder) {
	p.Pos, n = n.Pos, n.Typed()
	switch {
	case n.Kind == source.KindString && n.Text == "auto":
		p.Auto, p.N = true, 1
	case n.Kind == source.KindBool && n.Text == "false":
		p.N = 1
	case n.Kind == source.KindInt:
		d.Decode(n, path, &p.N)
		if p.N < 1 || p.N > 1024 {
			d.Errorf(n, path, "expected auto, false or a number from 1 to 1024, got %s", n.Text)
			p.N = 1
		}
	default:
		d.ReportWrongType(n, path, "auto, false or a number of calls in flight")
		p.N = 1
	}
}

// scalar is the text of a string, number or boolean, as written.
type scalar string

// DecodeNode reads any scalar except null.
func (s *scalar) DecodeNode(n *source.Node, path string, d *source.Decoder) {
	switch n.Kind {
	case source.KindString, source.KindInt, source.KindFloat, source.KindBool:
		*s = scalar(n.Spelling())
	default:
		d.ReportWrongType(n, path, "text, a number or a boolean")
	}
}
