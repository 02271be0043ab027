package suite

import (
	"time"

	"mcptest/internal/base/source"
	"mcptest/internal/spec/suite/dotenv"
	"mcptest/internal/spec/suite/interpolate"
)

// Hooks are programs run around the run and around each test.
type Hooks struct {
	Pos source.Pos
	// Once, before setup.
	BeforeAll HookList `yaml:"beforeAll" example:"./scripts/seed-db.sh"`
	// Once, after teardown, even after a failure.
	AfterAll HookList `yaml:"afterAll" example:"[./scripts/dump-logs.sh, ./scripts/teardown-db.sh]"`
	// Before each test.
	BeforeEach HookList `yaml:"beforeEach" example:"{command: node ./compute-vars.js, mode: context}"`
	// After each test whose beforeEach has started.
	AfterEach HookList `yaml:"afterEach" example:"./scripts/snapshot-session.sh"`
	// Limit for each hook; 60s when left out.
	Timeout *time.Duration `yaml:"timeout" default:"60s" example:"10s" range:">0"`
}

// HookList is one hook or a list of hooks.
type HookList []*Hook

// DecodeNode reads one hook or a list.
func (l *HookList) DecodeNode(n *source.Node, path string, d *source.Decoder) {
	one := new(Hook)
	if !d.DecodeOneOrMany(n, path, (*[]*Hook)(l), one, "") {
		*l = HookList{one}
	}
}

// Hook is a command string, or {command, mode: context, timeout?}.
type Hook struct {
	Pos     source.Pos
	Path    string
	Command *source.Node // text before interpolation: it is split into words first
	Context bool
	Timeout *time.Duration
	Scope   *interpolate.Scope
}

// contextHook is a hook written as a map.
type contextHook struct {
	// The program and its arguments: a list, or a string split by POSIX rules.
	Command *source.Node `yaml:"command,required"`
	// The word context: the hook reads JSON on standard input and may answer with a patch of env, vars and skip.
	Mode string `yaml:"mode"`
	// Limit for this hook; that of hooks.timeout when left out.
	Timeout *time.Duration `yaml:"timeout" example:"10s" range:">0"`
}

// DecodeNode reads a command string, or the map form, which must have mode:
// context.
func (h *Hook) DecodeNode(n *source.Node, path string, d *source.Decoder) {
	h.Pos, h.Path = n.Pos, path
	switch n.Kind {
	case source.KindString:
		h.Command = n
		if n.Text == "" {
			d.Errorf(n, path, "a hook needs a command, got empty text")
		}
	case source.KindMap:
		var m contextHook
		d.Decode(n, path, &m)
		h.Command, h.Timeout, h.Context = m.Command, m.Timeout, true
		mode := n.Get("mode")
		switch {
		case mode == nil:
			d.Errorf(n, path, `a hook written as a map needs "mode: context" (write a plain hook as text)`)
		case m.Mode != "context":
			d.ReportWrongType(mode, path+".mode", "context")
		}
		switch {
		case m.Command == nil:
		case m.Command.Kind == source.KindList: // package plan checks it
		case m.Command.Kind != source.KindString:
			d.ReportWrongType(m.Command, path+".command", "text or a list of text")
			h.Command = nil
		case m.Command.Text == "":
			d.Errorf(m.Command, path+".command", "a hook needs a command, got empty text")
		}
	default:
		d.ReportWrongType(n, path, "a command (text) or {command, mode: context}")
	}
}

// Step is one step of setup, setup_per_test or teardown: exactly one of Run
// and Call.
type Step struct {
	Pos   source.Pos
	Path  string
	Scope *interpolate.Scope
	// A name for reports.
	Name string `yaml:"name" example:"seed the database"`
	// The program and its arguments: a list, or a string split by POSIX rules.
	Run *source.Node `yaml:"run"`
	// A tool to call.
	Call *StepCall `yaml:"call"`
	// Start the program and continue; it is stopped at the end.
	Background bool `yaml:"background" default:"false" example:"true"`
	// A probe to wait for: tcp://host:port, http(s)://…, /path on the default server, or log:/regex/.
	WaitFor string `yaml:"wait_for" example:"tcp://127.0.0.1:9999" schema:"pattern: '^(tcp://.+|https?://.+|/|log:/.+/$)|\\$\\{[A-Za-z_]'"`
	// Limit for the whole step; 60s when left out.
	Timeout *time.Duration `yaml:"timeout" default:"60s" example:"30s" range:">0"`
	// A message shown instead of the step's output if it fails.
	CaptureFailure string `yaml:"capture_failure" example:"Seed script failed; cannot run tests"`
	// Teardown only: true runs the step even when an earlier one failed; false keeps state for a look when something failed.
	Always *bool `yaml:"always"`
	// Environment of the program.
	Env source.Map[scalar] `yaml:"env"`
	// Working directory. Default: the folder of the file that contains this key.
	Cwd string `yaml:"cwd" example:"scripts"`
	// node is the step as written, for the positions of keys.
	node *source.Node
}

// stepFields has the tags of Step without its DecodeNode.
type stepFields Step

// DecodeNode reads the keys and records their positions.
func (s *Step) DecodeNode(n *source.Node, path string, d *source.Decoder) {
	d.Decode(n, path, (*stepFields)(s))
	s.Path, s.node = path, n
	for _, e := range s.Env.Entries {
		dotenv.CheckName(d, e.Pos, source.PathKey(path+".env", e.Key), e.Key, string(e.Value))
	}
}

// StepCall is a tool call of a fixture step.
type StepCall struct {
	Pos source.Pos
	// The tool's name.
	Tool string `yaml:"tool,required" example:"reset_state" schema:"minLength: 1"`
	// Its arguments.
	Args *source.Node `yaml:"args"`
	// The server; the file's default server when left out, or in setup_per_test the variant of it that the test uses.
	Server string `yaml:"server" example:"api"`
}

// KeyPos returns the position of one of the step's keys, or the step's own.
func (s *Step) KeyPos(key string) source.Pos {
	if s.node != nil {
		if v := s.node.Get(key); v != nil {
			return v.Pos
		}
	}
	return s.Pos
}

// Has reports whether the step has a key.
func (s *Step) Has(key string) bool { return s.node != nil && s.node.Get(key) != nil }

// Node returns the step as written.
func (s *Step) Node() *source.Node { return s.node }
