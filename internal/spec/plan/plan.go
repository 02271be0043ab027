package plan

import (
	"cmp"
	"maps"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"mcptest/internal/assert/expect"
	"mcptest/internal/assert/snapshot"
	"mcptest/internal/assert/target"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
	"mcptest/internal/base/source"
	"mcptest/internal/process/bundle"
	"mcptest/internal/process/proc"
	"mcptest/internal/server/upstream"
	"mcptest/internal/spec/agent"
	"mcptest/internal/spec/repeat"
	"mcptest/internal/spec/suite"
	"mcptest/internal/spec/suite/variants"
)

// Plan is what a run executes.
type Plan struct {
	Files   []*File
	refs    []ref
	written int
}

// Len returns the number of selected cases.
func (p *Plan) Len() int { return len(p.refs) }

// Total returns the number of cases before selection.
func (p *Plan) Total() int { return p.written }

// Case builds the i-th case. It is safe for concurrent use.
func (p *Plan) Case(i int) *Case {
	r := p.refs[i]
	f := p.Files[r.file]
	c := f.templates[r.template].build(int(r.row), int(r.server))
	c.Index, c.File = i, f
	return c
}

// Name returns the name of the i-th case, without building the case.
func (p *Plan) Name(i int) string {
	r := p.refs[i]
	return p.Files[r.file].templates[r.template].caseName(int(r.row), int(r.server))
}

// FileOf returns the index in Files of the i-th case.
func (p *Plan) FileOf(i int) int { return int(p.refs[i].file) }

// ServerOf returns the server of the i-th case without building the case, or nil if
// it has none.
func (p *Plan) ServerOf(i int) *Server {
	r := p.refs[i]
	return p.Files[r.file].templates[r.template].getServer(int(r.row), int(r.server))
}

// Arrange selects the cases with the given indexes, in that order. Cases of one
// file must be contiguous.
func (p *Plan) Arrange(places []int) {
	p.refs = lists.Map(places, func(at int) ref { return p.refs[at] })
}

// ref is one expanded case: a template, a row and a server. It is small because
// there may be very many.
type ref struct {
	file, template, row int32
	server              int32
}

// File is one suite file of the run.
type File struct {
	Suite   *suite.Suite
	Name    string // the suite's name
	Path    string // as in messages
	Dir     string // absolute
	Servers []*Server
	Default *Server // may be nil
	// Upstreams are the APIs that test doubles replace.
	Upstreams []*upstream.Upstream

	BeforeAll, AfterAll, BeforeEach, AfterEach     []*Hook
	Setup, SetupPerTest, TeardownPerTest, Teardown []*Step

	Options Options
	// HookEnv is the environment of hooks and steps: the process's, .env
	// for unset names, then the suite's env.
	HookEnv []string
	// Serial is set when a per-test hook or fixture makes the file run one
	// case at a time, in file order.
	Serial bool

	Snapshots *snapshot.File // nil if the suite has no file

	inputs    inputs
	templates []*template
	cases     int  // of all templates
	only      bool // whether a test has only:
}

// inputs are files that were read or missing. Cases that are built during the run
// may add schemas.
type inputs struct {
	mu    sync.Mutex
	paths map[string]bool
}

func (in *inputs) add(path string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.paths[path] = true
}

// Inputs returns the files that were read in addition to those of the suite: rows,
// certificates, schemas, and what matchers and routes depend on.
func (f *File) Inputs() []string {
	f.inputs.mu.Lock()
	defer f.inputs.mu.Unlock()
	return slices.Sorted(maps.Keys(f.inputs.paths))
}

// Server returns the file's server called name, or nil.
func (f *File) Server(name string) *Server {
	return lists.First(f.Servers, func(s *Server) bool {
		return s.Name == name || strings.HasSuffix(s.Name, variants.Unknown) && suite.MatchName(name, s.Name)
	})
}

// Matching returns the file's servers that a name or pattern matches.
func (f *File) Matching(name string) []*Server {
	if sv := f.Server(name); sv != nil {
		return []*Server{sv}
	}
	var matching []*Server
	for _, sv := range f.Servers {
		if suite.MatchName(name, sv.Name) {
			matching = append(matching, sv)
		}
	}
	return matching
}

// Counterpart returns the server called name, or its variant like that of another server.
func (f *File) Counterpart(name string, of *Server) *Server {
	_, variant, _ := strings.Cut(of.Name, "@")
	return cmp.Or(f.Server(name), f.Server(name+"@"+variant))
}

// Options are a file's run options with every default filled in.
type Options struct {
	Parallel      int  // calls in flight per server
	Whole         bool // parallel: false, one case at a time in the whole file
	RestartPolicy string
	FailFast      bool
	Inconclusive  string // Gate, Fail or "pass"
	StrictArgs    bool   // arguments that do not match an inputSchema fail the test
	// DiagnoseIsolation allows to run failed tests again, see run_options.
	DiagnoseIsolation bool
}

// The restart policies.
const (
	PerRun  = "per_run"
	PerFile = "per_file"
	PerTest = "per_test"
)

// What a test without a decision does to the exit code; "pass" is the third.
const (
	Gate = "gate"
	Fail = "fail"
)

// Server is a server entry, ready to be started or connected to.
type Server struct {
	suite.ServerKeys

	Name string
	Pos  source.Pos `json:"-"`
	// Key is equal for entries with equal resolved definitions: they may share a
	// process or session. It holds the fields without the tag json:"-".
	Key string `json:"-"`

	Argv []string // nil for a server with a URL
	// Bundle is unpacked before Argv is started; nil if the command is no bundle.
	Bundle *bundle.Program `json:"-"`
	// Added are arguments that differ between runs.
	Added []string `json:"-"`
	// Change modifies the command before it is started, such as its network; it may be
	// nil.
	Change func(*exec.Cmd) `json:"-"`
	Dir    string
	Env    []string
	// Withheld names the variables that are set here and not passed to the process.
	Withheld []string `json:"-"`

	URL       string
	Headers   []Header
	Auth      *suite.Auth
	TLS       *suite.TLS
	Transport string // auto, streamable-http, sse
	// ClientSecret is the value of auth.oauth.client_secret_env.
	ClientSecret string `json:"-"`

	Client         Client `json:",omitzero"`
	Protocol       string // auto or a revision
	ConnectTimeout time.Duration
	Timeout        time.Duration `json:"-"` // 0: not set
	IdleTimeout    time.Duration `json:"-"` // 0: not set
	WaitForReady   string
	ReadyAtServer  bool          // WaitForReady is the address of a server of the suite
	ProbeTime      time.Duration `json:"-"` // limit of the probe in WaitForReady; 0: ConnectTimeout
	Sessions       int
	Tolerate       map[string]bool
	ValidateOutput bool
	Describe       []agent.Description  `json:",omitempty"`
	Respond        *suite.Respond       `json:"-"`
	Upstreams      []*upstream.Upstream `json:"-"` // of its file

	def *suite.Server // for positions
}

// IsMock reports whether the server is the mock of this program: what it returns is what the
// suite says.
func (s *Server) IsMock() bool { return IsMock(s.Argv) }

// IsMock reports whether a command starts the mock of this program.
func IsMock(argv []string) bool {
	return len(argv) > 1 && argv[1] == "mock" && strings.HasPrefix(filepath.Base(argv[0]), "mcptest")
}

// Prepare returns what happens right before each start of the program; nil if nothing does.
func (s *Server) Prepare() func(*proc.Registry) error {
	if s.Bundle == nil {
		return nil
	}
	return func(r *proc.Registry) error { return s.Bundle.Prepare(r) }
}

// Written returns the command as it is written and stored: the file of a bundle, because the
// folder in which it is unpacked is another one in each run; otherwise Argv.
func (s *Server) Written() []string {
	if s.Bundle != nil {
		return []string{s.Bundle.Bundle.Name}
	}
	return s.Argv
}

// Identity identifies what is started, also in another run.
func (s *Server) Identity() []string {
	if s.Bundle != nil {
		return []string{s.Bundle.Bundle.Path}
	}
	return append([]string{s.Dir}, s.Argv...)
}

// isVariantOf reports whether two servers are the same or variants of the same
// server.
func (s *Server) isVariantOf(other *Server) bool {
	a, _, _ := strings.Cut(s.Name, "@")
	b, _, _ := strings.Cut(other.Name, "@")
	return a == b
}

// Client is what mcptest claims to be on a server. The zero value is mcptest itself.
type Client struct {
	Profile              string // "": none
	Name, Title, Version string // "": mcptest's
	// Declares are the capabilities, an object; absent: those that respond: needs.
	Declares jsonv.Value
	// Exact is set if Declares is what the suite wrote. Otherwise the capabilities that
	// respond: needs are declared in addition.
	Exact bool
}

// IsZero reports whether the client is mcptest itself.
func (c Client) IsZero() bool {
	return c.Profile == "" && c.Name == "" && c.Title == "" && c.Version == "" && c.Declares.IsAbsent()
}

// Header is one HTTP header to send.
type Header struct{ Name, Value string }

// Case is one test to run, with all defaults filled in.
type Case struct {
	suite.TestKeys

	Index  int
	File   *File
	Name   string
	Pos    source.Pos
	Block  suite.Block
	Tags   []string
	About  suite.About
	Server *Server // of the first op; nil if it could not be resolved

	Ops  []*Op
	Tree *expect.Tree // evaluates the last op

	Timeout time.Duration
	Idle    time.Duration // limit for the silence of a call; 0: none
	Retries int
	Repeat  *repeat.Repeat
	Trials  *repeat.Trials
	Skip    string // reason; empty: run it
	Respond *suite.Respond
	// Headers are the HTTP headers of the calls.
	Headers http.Header
	// Routes are added to those of the named upstreams; nil if there are none.
	Routes map[string][]*upstream.Route
	// InvalidArgs is set if names or arguments are wrong on purpose, in any step.
	InvalidArgs bool
	// Flow is set if the test has steps.
	Flow bool
	// Exclusive is set if no other call may be in flight on the case's servers.
	Exclusive bool
	// Alone is set if a violation without a request's id fails this case. The plan
	// decides this and no flag, so that results do not depend on the number of
	// calls in flight.
	Alone bool
	// Row is the row of `cases:`; absent if there is none. RowPos is its position.
	Row    jsonv.Value
	RowPos source.Pos
	// FillTree completes Tree if the flow's own expect uses values of its steps;
	// otherwise it is nil.
	FillTree func(steps jsonv.Value) (*expect.Tree, source.Diagnostics)

	// Masks are what same_as does not compare.
	Masks *snapshot.Options

	limit time.Duration // the timeout, if it does not depend on the server
	// idleLimit is the idle_timeout, if it does not depend on the server.
	idleLimit time.Duration
	listens   bool // Exclusive on every server
}

// Connects reports whether the case needs sessions with its servers.
func (c *Case) Connects() bool { return c.Ops[0].Action == nil || c.Ops[0].Action.Connects() }

// Op is one request of a case, or what a test without a call does.
type Op struct {
	Name   string  // of a flow's step
	Server *Server // of this request
	pinned bool    // whether the step names its server
	Pos    source.Pos

	Action suite.Action // in place of a call; otherwise nil
	With   []*Server    // whose tools a conversation uses, too
	Method string
	Params []byte // a JSON value as sent, nil for none
	// Subject is the tool, resource or prompt, for display and HTTP headers.
	Subject string
	// MaybeMethod is set if the tool's name has a slash. If the server lists no
	// such tool, Subject is sent as a method with Args as its params.
	MaybeMethod  bool
	Args         []byte
	Raw          []byte // literal bytes instead of a request
	Notification bool
	InvalidArgs  bool // of a flow's step: its name or arguments are wrong on purpose

	Tree    *expect.Tree // items of a flow step; otherwise nil
	Capture []Capture
	Respond *suite.Respond

	Timeout     time.Duration // 0: that of the case
	CancelAfter time.Duration
	Wait        *Wait
	Until       *suite.Until

	// Fill returns a completed copy of an op that uses values of earlier steps;
	// otherwise it is nil.
	Fill func(steps jsonv.Value) (*Op, source.Diagnostics)
}

// Capture captures a value of a response.
type Capture struct {
	Name   string
	Target *target.Target
	Regex  *regexp.Regexp // of the part to capture; nil for the whole value
	Pos    source.Pos
}

// Wait configures waiting for a notification.
type Wait struct {
	Notification string
	Timeout      time.Duration // 0: that of the case
}

// Hook is one hook, split into words.
type Hook struct {
	Phase   string
	Command string // as written
	Argv    []string
	Dir     string
	Context bool
	Timeout time.Duration
	Pos     source.Pos
}

// Step is one fixture step.
type Step struct {
	Phase          string
	Name           string
	Argv           []string
	Call           *Op
	Background     bool
	WaitFor        string
	Timeout        time.Duration
	CaptureFailure string
	Always         *bool
	Env            []string
	Dir            string
	Pos            source.Pos
	unnamed        bool // whether Call names no server
}

// After reports whether the step is one of teardown or teardown_per_test.
func (s *Step) After() bool { return strings.HasPrefix(s.Phase, "teardown") }

// For returns the step for a test on a server: a call that names no server uses the
// test's variant of the default server.
func (s *Step) For(server *Server) *Step {
	if !s.unnamed || server == nil || !server.isVariantOf(s.Call.Server) {
		return s
	}
	out, call := *s, *s.Call
	call.Server, out.Call = server, &call
	return &out
}

// Defaults of the language.
const (
	DefaultTimeout        = 30 * time.Second
	DefaultConnectTimeout = 60 * time.Second
	DefaultStepTimeout    = 60 * time.Second
)
