package doubles

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
	"mcptest/internal/report/result"
	"mcptest/internal/server/upstream"
	"mcptest/internal/spec/plan"
)

// LateRequest is the kind of the finding about a request that came after the response of
// its test.
const LateRequest = "late-upstream-request"

// Deps are the dependencies of the doubles of a run.
type Deps struct {
	// Fallback returns the handler of requests to an upstream that have no route;
	// it may be nil.
	Fallback func(u *upstream.Upstream) upstream.Fallback
	// Network creates the network of a program whose upstreams need more than an
	// address (via: proxy, isolate: network). of is the server, or "" for the programs
	// of a file.
	Network func(of string, list []*upstream.Double, report func(result.Finding)) (Network, error)
	// Report reports a finding that belongs to no case.
	Report func(result.Finding)
}

// Network is the network that a program uses instead of that of this machine.
type Network struct {
	Environ []string // NAME=value: the proxy, and settings that make the program trust it
	// Change makes the command of a program start in a separate network; may be
	// nil.
	Change func(*exec.Cmd)
	Stop   func()
}

// Group holds the doubles of one server, or of the programs of a file. A nil Group
// has none.
type Group struct {
	deps      Deps
	of        string // the server; "" for the programs of a file
	upstreams []*upstream.Upstream

	mu    sync.Mutex
	state groupState
}

type groupState struct {
	begun   bool
	err     error
	doubles []*upstream.Double
	network Network
	// tolerates is set if a server that uses the doubles tolerates late requests.
	tolerates bool
	copies    map[string]string // of files with an address, by upstream
	folder    string            // of the copies
}

// New returns the doubles of a server, or of a file if of is empty. They are
// started on first use. It returns nil if there are no upstreams.
func New(deps Deps, list []*upstream.Upstream, of string) *Group {
	if len(list) == 0 {
		return nil
	}
	return &Group{deps: deps, of: of, upstreams: list}
}

// start starts the doubles on the first call and returns their state.
func (g *Group) start() groupState {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := &g.state
	if !s.begun {
		s.begun = true
		s.err = g.open(s)
	}
	return *s
}

// startedDoubles returns the doubles, which it starts on the first call.
func (g *Group) startedDoubles() []*upstream.Double { return g.start().doubles }

// listRunning returns the doubles that have been started.
func (g *Group) listRunning() []*upstream.Double {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.state.doubles
}

func (g *Group) open(s *groupState) error {
	s.copies = map[string]string{}
	var needs *upstream.Upstream // the first upstream that needs more than an address
	for _, u := range g.upstreams {
		var fallback upstream.Fallback
		if g.deps.Fallback != nil {
			fallback = g.deps.Fallback(u)
		}
		d := upstream.NewDouble(u, fallback, func(x upstream.Exchange) { g.report(u, x) })
		s.doubles = append(s.doubles, d)
		if u.Proxy || u.Isolate {
			needs = u
		}
		if u.Proxy {
			continue
		}
		if err := d.Listen(); err != nil {
			return err
		}
		if err := s.copyFile(d); err != nil {
			return err
		}
	}
	if needs == nil {
		return nil
	}
	if g.deps.Network == nil {
		return fmt.Errorf("upstream %q: via: proxy and isolate: network are not available here", needs.Name)
	}
	network, err := g.deps.Network(g.of, s.doubles, func(f result.Finding) {
		f.Server, f.File, f.Line = g.of, needs.Pos.File.Name, needs.Pos.Line
		g.deps.Report(f)
	})
	if err == nil {
		s.network = network
	}
	return err
}

// copyFile writes the copy of into.file.
func (s *groupState) copyFile(d *upstream.Double) (err error) {
	into := d.Upstream.Into
	if into.File == "" {
		return nil
	}
	if s.folder == "" {
		if s.folder, err = os.MkdirTemp("", "mcptest-upstream-"); err != nil {
			return fmt.Errorf("copy %s: %w", into.File, err)
		}
	}
	name := filepath.Join(s.folder, fmt.Sprintf("%d-%s", len(s.copies), filepath.Base(into.File)))
	s.copies[d.Upstream.Name] = name
	if err := os.WriteFile(name, []byte(d.Fill(string(d.Upstream.Template))), 0o600); err != nil {
		return fmt.Errorf("copy %s: %w", into.File, err)
	}
	return nil
}

// findAddress returns the value that a program gets for an upstream.
func (s *groupState) findAddress(d *upstream.Double) string {
	u := d.Upstream
	switch {
	case u.Into.File != "":
		return s.copies[u.Name]
	case u.Into.Value != "":
		return d.Fill(u.Into.Value)
	}
	return d.URL()
}

// listEnviron returns the environment variables of programs that use the doubles, as
// NAME=value.
func (s *groupState) listEnviron() []string {
	out := slices.Clone(s.network.Environ)
	for _, d := range s.doubles {
		if name := d.Upstream.Into.Env; name != "" {
			out = append(out, name+"="+s.findAddress(d))
		}
	}
	return out
}

// Environ starts the doubles and returns the environment variables of programs as
// an object.
func (g *Group) Environ() (jsonv.Value, error) {
	s := g.start()
	out := jsonv.Object()
	for _, kv := range s.listEnviron() {
		name, value := cut(kv)
		out = out.With(name, jsonv.String(value))
	}
	return out, s.err
}

// Prepare starts the doubles and returns the server with their addresses. Requests
// until done is called belong to the start of the server.
func (g *Group) Prepare(def *plan.Server) (ready *plan.Server, done func(), err error) {
	if g == nil {
		return def, func() {}, nil
	}
	s := g.start()
	if s.err != nil {
		return def, func() {}, s.err
	}
	out := *def
	out.Headers = slices.Clip(out.Headers)
	if out.URL == "" {
		out.Env, out.Change = mergeEnv(out.Env, s.listEnviron()), s.network.Change
	}
	if def.Tolerate[LateRequest] {
		g.mu.Lock()
		g.state.tolerates = true
		g.mu.Unlock()
	}
	var ends []func()
	for _, d := range s.doubles {
		into := d.Upstream.Into
		if into.Arg != "" && out.URL == "" {
			out.Added = append(out.Added[:len(out.Added):len(out.Added)], into.Arg, s.findAddress(d))
		}
		if into.Header != "" && out.URL != "" {
			out.Headers = append(out.Headers, plan.Header{Name: into.Header, Value: s.findAddress(d)})
		}
		ends = append(ends, d.Starting())
	}
	return &out, func() {
		for _, end := range ends {
			end()
		}
	}, nil
}

// Busy marks a hook or a fixture step: until done is called, requests belong to no test.
func (g *Group) Busy() (done func()) {
	ends := lists.Map(listDoubles([]*Group{g}, (*Group).listRunning), func(d *upstream.Double) func() {
		return d.Busy()
	})
	return func() {
		for _, end := range ends {
			end()
		}
	}
}

// mergeEnv returns env with more appended; later entries override earlier ones.
func mergeEnv(env, more []string) []string {
	out := slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _ := cut(kv)
		return slices.ContainsFunc(more, func(other string) bool { n, _ := cut(other); return n == name })
	})
	return append(out, more...)
}

func cut(kv string) (name, value string) {
	name, value, _ = strings.Cut(kv, "=")
	return name, value
}

// Close ends the doubles and removes their files.
func (g *Group) Close() {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.state
	g.state = groupState{begun: true, doubles: s.doubles, err: fmt.Errorf("the doubles of the upstreams have ended")}
	if s.network.Stop != nil {
		s.network.Stop()
	}
	for _, d := range s.doubles {
		d.Close()
	}
	if s.folder != "" {
		_ = os.RemoveAll(s.folder)
	}
}

// FindUnused returns a finding for each upstream that got no request in any group
// although tests ran.
func FindUnused(groups []*Group) (out []result.Finding) {
	var tested []*upstream.Upstream
	requested := map[*upstream.Upstream]bool{}
	for _, d := range listDoubles(groups, (*Group).listRunning) {
		ran, got := d.Used()
		requested[d.Upstream] = requested[d.Upstream] || got
		if ran && !slices.Contains(tested, d.Upstream) {
			tested = append(tested, d.Upstream)
		}
	}
	for _, u := range tested {
		if requested[u] {
			continue
		}
		cause := "check that into: names the place where the server reads the address"
		if u.Proxy {
			cause = "the server may ignore proxies, as fetch in Node.js before 22.21 and 24.5 does: try isolate: network"
		}
		out = append(out, result.Finding{
			Kind: "unused-upstream", Severity: "warning", File: u.Pos.File.Name, Line: u.Pos.Line,
			Message: fmt.Sprintf("upstream %q got no request in this run; %s", u.Name, cause),
		})
	}
	return out
}

// listDoubles returns the doubles of groups, of which some may be equal or nil.
func listDoubles(groups []*Group, of func(*Group) []*upstream.Double) (out []*upstream.Double) {
	for i, g := range groups {
		if g != nil && !slices.Contains(groups[:i], g) {
			out = append(out, of(g)...)
		}
	}
	return out
}

// report reports a request that belongs to no single test.
func (g *Group) report(u *upstream.Upstream, x upstream.Exchange) {
	f := result.Finding{Server: g.of, File: u.Pos.File.Name, Line: u.Pos.Line, Severity: "warning"}
	switch {
	case x.Late:
		g.reportLate(&f, u, x)
	case x.Missing != "":
		f.Kind, f.Severity, f.Message = "missing-request-value", "error", x.Missing+describeTests(x.Tests)
	case x.Unmatched != "":
		f.Kind, f.Message = "unmatched-upstream-request", x.Unmatched+describeTests(x.Tests)
		if !u.Allowed {
			f.Severity = "error"
		}
	default:
		return
	}
	g.deps.Report(f)
}

// reportLate describes a request that came after the response of its test.
func (g *Group) reportLate(f *result.Finding, u *upstream.Upstream, x upstream.Exchange) {
	f.Kind = LateRequest
	request := cmp.Or(strings.TrimSpace(x.Request.Method+" "+x.Request.Path), "a request")
	f.Message = fmt.Sprintf("upstream %q got %s after the response of %s", u.Name, request, nameTests(x.Tests))
	wrong := cmp.Or(x.Missing, x.Unmatched)
	if wrong != "" {
		f.Message += ": " + wrong
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.state.tolerates && (x.Examined || wrong != "" && !u.Allowed) {
		f.Severity = "error"
		f.Message += "; to accept it for now: tolerate: [" + LateRequest + "]"
	}
}

// describeTests describes the tests that a request may belong to.
func describeTests(names []string) string {
	switch len(names) {
	case 0:
		return ""
	case 1:
		return " (while " + nameTests(names) + " was running)"
	}
	return " (while " + nameTests(names) + " were running)"
}

// nameTests lists tests.
func nameTests(names []string) string {
	list := make([]string, 0, 4)
	for i, name := range names {
		if i == 3 {
			list = append(list, display.Count(len(names)-i, "other"))
			break
		}
		list = append(list, fmt.Sprintf("%q", name))
	}
	if len(names) == 1 {
		return "the test " + list[0]
	}
	return "the tests " + strings.Join(list, ", ")
}
