package plan_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
)

// planOf compiles a suite with other files in its directory.
func planOf(t *testing.T, set plan.Settings, text string, files ...string) *plan.Plan {
	t.Helper()
	dir := t.TempDir()
	files = append(files, "suite.yaml", text)
	for i := 0; i < len(files); i += 2 {
		if err := os.WriteFile(filepath.Join(dir, files[i]), []byte(files[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, diags := suite.Load(filepath.Join(dir, "suite.yaml"), suite.Options{Env: set.Env, BaseDir: dir})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	p, diags := plan.Compile([]*suite.Suite{s}, set)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return p
}

const twoServers = `servers:
  a: {command: [x], timeout: 7s}
  b: {command: [y], respond: {roots: []}}
default_server: a
run_options: {timeout: 8s}
`

// A case has the limits and permissions of its server, even if the test names several
// servers.
func TestCasesOnSeveralServers(t *testing.T) {
	p := planOf(t, plan.Settings{}, twoServers+`tools:
  - {name: t, tool: x, server: [a, b]}
  - name: flow
    server: [b, a]
    steps: [{tool: x}, {tool: y, server: b}, {tool: z}]
`)
	var got []string
	for i := range p.Len() {
		c := p.Case(i)
		line := fmt.Sprintf("%s: %s %v exclusive=%v", c.Name, c.Server.Name, c.Timeout, c.Exclusive)
		for _, op := range c.Ops {
			line += " " + op.Subject + "@" + op.Server.Name
		}
		got = append(got, line)
	}
	want := []string{
		"t @a: a 7s exclusive=false x@a",
		"t @b: b 8s exclusive=true x@b",
		"flow @b: b 8s exclusive=true x@b y@b z@b",
		"flow @a: a 7s exclusive=true x@a y@b z@a",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A flow whose steps all name a server belongs to the server of the first step.
func TestServerOfAFlow(t *testing.T) {
	p := planOf(t, plan.Settings{}, `servers: {a: {command: [x]}, b: {command: [y]}}
tools:
  - {name: flow, steps: [{tool: x, server: b}, {tool: y, server: a}]}
`)
	if c := p.Case(0); c.Server == nil || c.Server.Name != "b" || p.ServerOf(0) != c.Server {
		t.Errorf("%v", c.Server)
	}
}

// Captured values are inserted once: placeholders inside them are text.
func TestCapturedValuesInSteps(t *testing.T) {
	p := planOf(t, plan.Settings{Env: []string{"OUT=secret"}}, twoServers+`tools:
  - name: flow
    server: [b, a]
    cases: [{v: "$${OUT}"}]
    steps:
      - {tool: x, capture: {id: text, n: text}}
      - {tool: y, args: {a: "${steps.id}", b: "${case.v} ${steps.id} $${OUT} ${OUT}", n: "${steps.n}"}, timeout: "${steps.n}s"}
    expect: [{target: text, matcher: {length: "${steps.n}"}}]
`)
	for i, server := range []string{"b", "a"} {
		c := p.Case(i)
		steps := jsonv.Object(
			jsonv.Member{Key: "id", Value: jsonv.String("${OUT} ${steps.n}")}, jsonv.Member{Key: "n", Value: jsonv.Int(3)})
		op, diags := c.Ops[1].Fill(steps)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		want := `{"name":"y","arguments":{"a":"${OUT} ${steps.n}","b":"${OUT} ${OUT} ${steps.n} ${OUT} secret","n":3}}`
		if string(op.Params) != want || op.Timeout.String() != "3s" || op.Server.Name != server {
			t.Errorf("%s, %v, %s", op.Params, op.Timeout, op.Server.Name)
		}
		if tree, diags := c.FillTree(steps); diags.HasErrors() || len(tree.Items) != 1 {
			t.Errorf("%v", diags)
		}
		bad := steps.With("n", jsonv.String("many"))
		if _, diags := c.Ops[1].Fill(bad); !strings.Contains(diags.Error(), `got text "manys"`) {
			t.Errorf("%v", diags)
		}
		if _, diags := c.FillTree(bad); !strings.Contains(diags.Error(), "suite.yaml:") {
			t.Errorf("%v", diags)
		}
	}
}

// Cases are built during a run, by several goroutines.
func TestCasesAreBuiltConcurrently(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("v,re,s\n")
	for i := range 50 {
		fmt.Fprintf(&rows, "%d,^%d,%s\n", i, i, []string{"a", "b"}[i%2])
	}
	p := planOf(t, plan.Settings{}, twoServers+`tools:
  - {name: quick, tool: x, cases: rows.csv, args: {v: "${case.v}"}, expect: [{target: text, matcher: {regex: "${case.re}"}}, {target: result, matcher: {schema: {type: object}}}]}
  - {name: whole, tool: x, cases: rows.csv, server: "${case.s}", expect: [{target: result, matcher: {schema: {minProperties: "${case.v}"}}}]}
  - {name: flow, cases: rows.csv, steps: [{tool: x, capture: {id: text}}, {tool: y, args: {a: "${steps.id}${case.v}"}}]}
`, "rows.csv", rows.String())
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range p.Len() {
				c := p.Case(i)
				for _, op := range c.Ops {
					if op.Fill != nil {
						if _, diags := op.Fill(jsonv.Object(jsonv.Member{Key: "id", Value: jsonv.String("x")})); diags.HasErrors() {
							t.Error(diags)
						}
					}
				}
			}
		})
	}
	wg.Wait()
}

// Compiling releases the parsed entries.
func TestCompileReleasesEntries(t *testing.T) {
	s, diags := suite.Load("testdata/rich/suite.yaml", suite.Options{})
	if diags.HasErrors() || len(s.Entries) == 0 {
		t.Fatal(diags)
	}
	plan.Compile([]*suite.Suite{s}, plan.Settings{ViolationKinds: violationKinds})
	if s.Entries != nil {
		t.Errorf("%d entries", len(s.Entries))
	}
}

// Equal definitions share a server, regardless of where they are written.
// Whoever adds a field to a server decides whether it is part of the server's identity:
// two servers that differ in such a field never share a process.
func TestServerIdentity(t *testing.T) {
	t.Parallel()
	identity := []string{
		"Argv", "Auth", "Client", "ConnectTimeout", "Describe", "Dir", "Env", "Headers", "Name", "Protocol", "ReadyAtServer", "RetryHTTP", "Sessions", "StrictExit", "TLS", "Tolerate",
		"Transport", "URL", "ValidateOutput", "WaitForReady",
	}
	informs := []string{
		"Added", "Bundle", "Change", "ClientSecret", "IdleTimeout", "Key", "Pos", "ProbeTime", "Respond", "Timeout", "Upstreams", "Withheld",
	}
	var isIdentity, others []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[plan.Server]()) {
		top := reflect.TypeFor[plan.Server]().Field(f.Index[0])
		switch {
		case !f.IsExported() || f.Anonymous:
		case f.Tag.Get("json") == "-" || top.Tag.Get("json") == "-":
			others = append(others, f.Name)
		default:
			isIdentity = append(isIdentity, f.Name)
		}
	}
	slices.Sort(isIdentity)
	slices.Sort(others)
	const decide = "a field of plan.Server or suite.ServerKeys: if it changes what the process or the connection does, name it in identity here; " +
		"if it only informs, give it the tag json:\"-\" and name it in informs (-want +got):\n%s"
	if d := cmp.Diff(identity, isIdentity); d != "" {
		t.Errorf(decide, d)
	}
	if d := cmp.Diff(informs, others); d != "" {
		t.Errorf(decide, d)
	}
}

func TestServerKeys(t *testing.T) {
	key := func(text string) string {
		return planOf(t, plan.Settings{Env: []string{"T=0123456789", "PATH=/bin"}}, text+"\ntools: [{name: n, tool: t}]\n").Files[0].Servers[0].Key
	}
	base := `servers: {a: {url: "http://127.0.0.1/", auth: {bearer_token_env: T}, tls: {insecure: true}}}`
	if key(base) != key("\n# elsewhere\n"+base) {
		t.Error("the place of a definition makes a difference")
	}
	if n := len(key(base)); n > 2000 {
		t.Errorf("a key of %d bytes", n)
	}
	for _, other := range []string{
		`servers: {b: {url: "http://127.0.0.1/", auth: {bearer_token_env: T}, tls: {insecure: true}}}`,
		`servers: {a: {url: "http://127.0.0.1/", auth: {bearer_token_env: T}, tls: {insecure: false}}}`,
		`servers: {a: {url: "http://127.0.0.1/", tls: {insecure: true}}}`,
		`servers: {a: {url: "http://127.0.0.1/x", auth: {bearer_token_env: T}, tls: {insecure: true}}}`,
	} {
		if key(base) == key(other) {
			t.Errorf("not distinguished: %s", other)
		}
	}
}

func TestNeedLogin(t *testing.T) {
	needLogin := func(p *plan.Plan) source.Diagnostics {
		return plan.NeedLogin(p, func(s *plan.Server) string { return "no token for " + s.Name })
	}
	const servers = "servers: {now: {command: [x]}, later: {url: \"http://127.0.0.1/\", auth: {oauth: {grant: device_code}}}}\ndefault_server: now\n"
	if ds := needLogin(planOf(t, plan.Settings{}, servers+"tools: [{name: n, tool: x}]")); len(ds) > 0 {
		t.Errorf("nothing needs it: %v", ds)
	}
	for _, tests := range []string{
		"tools: [{name: n, tool: x, server: later}]",
		"tools: [{name: n, tool: x, server: [now, later]}]",
		"tools: [{name: n, tool: x, server: \"${case.s}\", cases: [{s: now}, {s: later}]}]",
		"tools: [{name: n, steps: [{tool: x}, {tool: x, server: later}]}]",
		"tools: [{name: n, tool: x}]\nteardown: [{call: {tool: x, server: later}}]",
	} {
		ds := needLogin(planOf(t, plan.Settings{}, servers+tests))
		if len(ds) != 1 || ds[0].Path != "servers.later.auth" || !strings.HasPrefix(ds[0].Hint, "run: mcptest login later") || !strings.HasSuffix(ds[0].Hint, " --device") || ds[0].Pos.Line != 1 {
			t.Errorf("%s: %v", tests, ds)
		}
	}
}

// The names of tests on variants name the variant, also if there is only one, so
// that they stay the same when variants are added.
func TestNamesOfVariants(t *testing.T) {
	const text = `servers:
  a: {command: [x], variants: {one: {}, two: {args: [y]}}}
  b: {command: [x], variants: {one: {}}}
tools:
  - {name: all, tool: x, server: "a@*"}
  - {name: only, tool: x, server: "b@*"}
  - {name: named, tool: x, server: a@two}
  - {name: mixed, tool: x, server: [a, "*@one", a@one]}
  - {name: rows, tool: x, server: "${case.s}", cases: [{s: a}, {s: "a@*"}, {s: "b@one"}]}
`
	for servers, want := range map[string][]string{
		"": {
			"all @a@one", "all @a@two", "only @b@one", "named @a@two", "mixed @a", "mixed @a@one", "mixed @b@one",
			"rows [1]", "rows [2] @a@one", "rows [2] @a@two", "rows [3] @b@one",
		},
		"a":     {"mixed @a", "rows [1]"},
		"b@*":   {"only @b@one", "mixed @b@one", "rows [3] @b@one"},
		"a@two": {"all @a@two", "named @a@two", "rows [2] @a@two"},
	} {
		set := plan.Settings{}
		if servers != "" {
			set.Servers = []string{servers}
		}
		p := planOf(t, set, text+"default_server: a\n")
		var got []string
		for i := range p.Len() {
			if c := p.Case(i); c.Name != p.Name(i) || c.Ops[0].Server != c.Server {
				t.Errorf("%s is %s on %s", c.Name, p.Name(i), c.Ops[0].Server.Name)
			}
			got = append(got, p.Name(i))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", servers, got, want)
		}
	}
}
