package doubles_test

import (
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcptest/internal/base/source"
	"mcptest/internal/report/result"
	"mcptest/internal/run/doubles"
	"mcptest/internal/server/upstream"
	"mcptest/internal/spec/plan"
)

const declared = `
env: {stands_for: "https://a.example/v1", into: {env: A_URL}, routes: [{match: {path: /v1/x}, reply: {text: env}}, {match: {path: /v1/lacks}, reply: {text: "{{query.q}}"}}]}
arg: {stands_for: "https://b.example", into: {arg: --host, value: "{host}"}, unmatched: 404}
file: {stands_for: "https://c.example", into: {env: C_FILE, file: config.yaml}}
header: {stands_for: "https://d.example", into: {header: X-Api}}
`

// upstreams compiles the declarations, in a directory with config.yaml.
func upstreams(t *testing.T) (out []*upstream.Upstream) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte("server: {url}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	n, diags := source.Parse(&source.File{Name: "s.yml", Data: []byte(declared)})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	dec := new(source.Decoder)
	for _, f := range n.Fields {
		var d upstream.Declaration
		dec.Decode(f.Value, "", &d)
		u := upstream.Compile(f.Key.Text, &d, upstream.Options{Dir: dir}, dec)
		u.Pos = f.Key.Pos
		out = append(out, u)
	}
	if ds := dec.Diagnostics(); len(ds) > 0 {
		t.Fatal(ds)
	}
	return out
}

func TestPrepare(t *testing.T) {
	g := doubles.New(doubles.Deps{Report: func(result.Finding) {}}, upstreams(t), "api")
	defer g.Close()
	def := &plan.Server{Name: "api", Argv: []string{"prog"}, Env: []string{"A_URL=https://a.example", "B=1"}}
	got, done, err := g.Prepare(def)
	if err != nil {
		t.Fatal(err)
	}
	done()
	if len(def.Env) != 2 || def.Env[0] != "A_URL=https://a.example" || def.Added != nil {
		t.Errorf("the definition was changed: %+v", def)
	}
	env := map[string]string{}
	for _, kv := range got.Env {
		name, value, _ := strings.Cut(kv, "=")
		env[name] = value
	}
	u, err := url.Parse(env["A_URL"])
	if err != nil || u.Hostname() != "127.0.0.1" || u.Path != "/v1" || len(got.Env) != 3 {
		t.Errorf("%v", got.Env)
	}
	if len(got.Added) != 2 || got.Added[0] != "--host" || !strings.HasPrefix(got.Added[1], "127.0.0.1:") {
		t.Errorf("%v", got.Added)
	}
	text, err := os.ReadFile(env["C_FILE"])
	if err != nil || !strings.HasPrefix(string(text), "server: http://127.0.0.1:") {
		t.Errorf("%q, %v", text, err)
	}
	remote, done, err := g.Prepare(&plan.Server{Name: "api", URL: "http://127.0.0.1:1"})
	if err != nil || len(remote.Headers) != 1 || remote.Headers[0].Name != "X-Api" || remote.Env != nil || remote.Added != nil {
		t.Errorf("%+v, %v", remote, err)
	}
	done()
}

// A problem that belongs to no single test is a finding; one during an exclusive test
// belongs to that test.
func TestFindings(t *testing.T) {
	var found, messages []string
	g := doubles.New(doubles.Deps{Report: func(f result.Finding) {
		found, messages = append(found, f.Severity+" "+f.Kind), append(messages, f.Message)
	}}, upstreams(t), "api")
	defer g.Close()
	ready, done, err := g.Prepare(&plan.Server{Argv: []string{"prog"}})
	if err != nil {
		t.Fatal(err)
	}
	base := strings.TrimPrefix(ready.Env[0], "A_URL=")
	get := func(path string) {
		res, err := http.Get(base + path)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		res.Body.Close()
	}
	get("/x") // while the server starts
	done()
	get("/x") // before the first test
	w := doubles.Begin(&plan.Case{Name: "test", Exclusive: true}, []*doubles.Group{g, g})
	get("/x") // before its call
	w.Answered(false)
	get("/x")
	get("/none")
	get("/lacks")
	w.Answered(true)
	get("/x")
	requests, problems := w.Record(time.Now())
	if len(requests) != 4 || !requests[1].Unmatched || !requests[3].Late || len(problems) != 2 || !strings.Contains(problems[0], "GET /v1/none") || !strings.Contains(problems[1], "{{query.q}}") {
		t.Errorf("%+v %q", requests, problems)
	}
	if n := w.Requests().Lookup("env", "requests").Len(); n != 3 || w.Requests().Lookup("arg", "requests").Len() != 0 {
		t.Errorf("%d requests", n)
	}
	w.End()
	get("/x")    // between two tests
	get("/none") // too
	busy := g.Busy()
	get("/x") // of a hook
	busy()
	shared := doubles.Begin(&plan.Case{Name: "other", Routes: map[string][]*upstream.Route{"env": {}}}, []*doubles.Group{g})
	get("/x") // before its call
	shared.Answered(false)
	get("/none")
	get("/lacks")
	shared.Answered(true)
	get("/x") // the test examines the upstream
	shared.End()
	want := "warning late-upstream-request, warning late-upstream-request, error late-upstream-request, warning late-upstream-request, " +
		"error unmatched-upstream-request, error missing-request-value, error late-upstream-request"
	if got := strings.Join(found, ", "); got != want {
		t.Errorf("%s\nexpected %s", got, want)
	}
	if !strings.HasSuffix(messages[0], `after the response of the test "test"`) || !strings.HasSuffix(messages[2], `; nearest: /v1/x (upstreams.env.routes[0]): the path differs; to accept it for now: tolerate: [late-upstream-request]`) ||
		!strings.HasSuffix(messages[4], `(while the test "other" was running)`) || !strings.HasSuffix(messages[3], `after the response of the test "test"`) {
		t.Errorf("%q", messages)
	}
}

// A test fails if one of its own routes was not used, because it tests nothing then.
func TestUnusedRoute(t *testing.T) {
	list := upstreams(t)
	routes := func(text string) []*upstream.Route {
		n, diags := source.Parse(&source.File{Name: "s.yml", Data: []byte(text)})
		var decl []*upstream.RouteDecl
		dec := new(source.Decoder)
		dec.Decode(n, "", &decl)
		out := upstream.CompileRoutes(decl, "tools[1].upstream.env", upstream.Options{}, dec)
		if ds := append(diags, dec.Diagnostics()...); len(ds) > 0 {
			t.Fatal(ds)
		}
		return out
	}
	var groups []*doubles.Group
	var bases []string
	for range 2 { // two servers, each with doubles of its own
		g := doubles.New(doubles.Deps{Report: func(result.Finding) {}}, list, "api")
		defer g.Close()
		ready, done, err := g.Prepare(&plan.Server{Argv: []string{"prog"}})
		if err != nil {
			t.Fatal(err)
		}
		done()
		groups, bases = append(groups, g), append(bases, strings.TrimPrefix(ready.Env[0], "A_URL="))
	}
	for _, tt := range []struct{ routes, request, want string }{
		{`[{match: {path: /v1/x}, reply: {status: 429}}]`, "/x", ""},
		{`[{match: {path: /x}, reply: {status: 429}}]`, "/x", "tools[1].upstream.env[0] was never used; the nearest request was GET /v1/x: the path differs: write it with /v1, as /v1/x"},
		{`[{match: {path: /x}, reply: {status: 429}}]`, "", "tools[1].upstream.env[0] was never used; the upstream got no request"},
		{`[{match: {path: "*", headers: {user-agent: "*"}}}, {match: {path: /v1/x, headers: {accept: "*"}}}]`, "/x", "tools[1].upstream.env[1] was never used; the nearest request was GET /v1/x: header \"Accept\" is absent, expected \"*\""},
		{`[{match: {path: /v1/x, headers: {user-agent: Go*}}}, {match: {path: "/v1/{id}"}}]`, "/x", "tools[1].upstream.env[1] was never used; an earlier route responded to GET /v1/x"},
	} {
		w := doubles.Begin(&plan.Case{Name: "test", Exclusive: true, Routes: map[string][]*upstream.Route{"env": routes(tt.routes)}}, groups)
		w.Answered(false)
		if tt.request != "" {
			res, err := http.Get(bases[1] + tt.request)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
		}
		w.Answered(true)
		w.End()
		_, problems := w.Record(time.Now())
		if got := strings.Join(problems, "\n"); got != tt.want {
			t.Errorf("%s: %q, expected %q", tt.routes, got, tt.want)
		}
	}
}

func TestUnusedUpstream(t *testing.T) {
	list := upstreams(t)
	names := func(groups ...*doubles.Group) (out []string) {
		for _, f := range doubles.FindUnused(groups) {
			name, _, _ := strings.Cut(f.Message, " got no request")
			out = append(out, f.Severity+" "+name)
		}
		return out
	}
	a := doubles.New(doubles.Deps{Report: func(result.Finding) {}}, list[:2], "a")
	b := doubles.New(doubles.Deps{Report: func(result.Finding) {}}, list[:2], "b")
	ready, done, err := a.Prepare(&plan.Server{Argv: []string{"prog"}})
	if err != nil {
		t.Fatal(err)
	}
	done()
	if got := names(a, b, nil); got != nil {
		t.Errorf("no test ran: %q", got)
	}
	w := doubles.Begin(&plan.Case{Name: "test", Exclusive: true}, []*doubles.Group{a, b})
	w.Answered(false)
	if got := strings.Join(names(b, a), ", "); got != `warning upstream "env", warning upstream "arg"` {
		t.Error(got)
	}
	res, err := http.Get(strings.TrimPrefix(ready.Env[0], "A_URL=") + "/x")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	w.End()
	a.Close()
	b.Close()
	if got := strings.Join(names(a, b), ", "); got != `warning upstream "arg"` {
		t.Error(got)
	}
}

// TestNothingIsLeft starts and stops doubles many times: no port, file or directory may
// remain.
func TestNothingIsLeft(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	list := upstreams(t)
	open := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip(err)
		}
		return len(entries)
	}
	before := 0
	for i := range 300 {
		g := doubles.New(doubles.Deps{Report: func(result.Finding) {}}, list, "api")
		ready, done, err := g.Prepare(&plan.Server{Argv: []string{"prog"}})
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.Get(strings.TrimPrefix(ready.Env[0], "A_URL=") + "/x")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		res.Body.Close()
		done()
		g.Close()
		http.DefaultClient.CloseIdleConnections()
		if i == 20 {
			before = open()
		}
	}
	if after := open(); after > before+10 {
		t.Errorf("%d open files after 20 runs, %d after 300", before, after)
	}
	if left, _ := os.ReadDir(os.TempDir()); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
