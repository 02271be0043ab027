package arch_test

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the arrows in .golangci.yml from the table")

// all in a row allows every package of the module.
const all = "*"

// anywhere may be imported by every package, so that only one package decides
// which characters are shown.
const anywhere = "internal/display"

// edges lists for each package the packages of the module that it may import; the
// diagram in ARCHITECTURE.md shows the same. Data flows one way, so no package may
// import one to its right in
//
//	source → suite → plan → run → result → report
//
// Package result defines the types that run and report share, and imports neither.
var edges = map[string][]string{
	anywhere:         {},
	"internal/jsonv": {},
	// The wrapper around the schema library.
	"internal/jsonschema": {"internal/jsonv"},
	"internal/osfile":     {},
	"internal/proc/tail":  {},
	"internal/proc/pipe":  {},
	"internal/proc":       {"internal/proc/pipe", "internal/proc/tail"},
	"internal/proc/probe": {"internal/proc", "internal/proc/tail"},
	// The syntax of ${…}; each language defines what may be in it.
	"internal/placeholder":       {},
	"internal/shellwords":        {"internal/placeholder"},
	"internal/watchdog":          {}, // has almost no imports, so that it is initialized first
	"internal/term":              {},
	"internal/secret":            {"internal/jsonv"},
	"internal/source":            {"internal/source/syntax", "internal/source/spelling", "internal/jsonv"},
	"internal/source/spelling":   {},
	"internal/source/syntax":     {},
	"internal/source/stored":     {"internal/source", "internal/jsonv"},
	"internal/suite/dotenv":      {"internal/source"},
	"internal/suite/lint":        {"internal/source"},
	"internal/suite/interpolate": {"internal/placeholder", "internal/source", "internal/jsonv"},
	"internal/expect/habit":      {"internal/source"},
	"internal/expect/format":     {"internal/jsonschema"},
	"internal/expect/jsonpath":   {"internal/jsonv"},
	"internal/expect/textdiff":   {"internal/jsonv"},
	"internal/snapshot":          {"internal/source", "internal/source/stored", "internal/jsonv", "internal/expect/jsonpath", "internal/osfile"},
	"internal/expect":            {"internal/compat", "internal/snapshot", "internal/source", "internal/jsonv", "internal/surface", "internal/surface/assert", "internal/jsonschema", "internal/expect/habit", "internal/expect/format", "internal/expect/jsonpath", "internal/expect/textdiff"},
	// The client half of MCP: sessions use the wire, and both use the vocabulary of
	// the protocol.
	"internal/mcp/protocol": {"internal/jsonv"},
	"internal/mcp/wire":     {"internal/mcp/protocol", "internal/jsonv", "internal/proc", "internal/proc/tail", "internal/testkit"},
	"internal/mcp/conn":     {"internal/mcp/protocol", "internal/mcp/wire", "internal/jsonv", "internal/proc", "internal/proc/tail"},
	"internal/mcp":          {"internal/mcp/conn", "internal/mcp/protocol", "internal/mcp/wire", "internal/jsonv", "internal/proc", "internal/proc/tail"},
	// What MCP requires of a response. run and cli import it; mcp does not.
	"internal/mcp/check": {"internal/mcp", "internal/mcp/protocol", "internal/mcp/wire", "internal/jsonv", "internal/jsonschema", "internal/source"},
	// The server half does not import the client half.
	"internal/mcpserver": {"internal/mcp/protocol", "internal/mcp/wire", "internal/jsonv"},
	"internal/auth":      {"internal/osfile"},
	// Test doubles of the APIs behind a server.
	"internal/upstream":           {"internal/jsonv", "internal/secret", "internal/source"},
	"internal/upstream/recording": {"internal/upstream", "internal/jsonv", "internal/source", "internal/source/stored", "internal/secret", "internal/osfile"},
	"internal/upstream/proxy":     {"internal/testkit", "internal/upstream"},
	// Recorded traffic: the file, and how requests are matched with it.
	"internal/cassette":           {"internal/mcp/protocol", "internal/osfile", "internal/secret", "internal/jsonv", "internal/expect/jsonpath"},
	"internal/cassette/tee":       {"internal/cassette", "internal/proc", "internal/proc/pipe", "internal/mcp/protocol", "internal/jsonv"},
	"internal/cassette/transport": {"internal/cassette", "internal/connect", "internal/mcp/protocol", "internal/mcp/wire", "internal/plan", "internal/proc", "internal/proc/tail", "internal/secret", "internal/jsonv"},
	// suite uses expect's table of matchers only for the published schema.
	"internal/suite": {"internal/compat", "internal/upstream", "internal/upstream/recording", "internal/placeholder", "internal/source", "internal/suite/dotenv", "internal/suite/interpolate", "internal/suite/lint", "internal/jsonv", "internal/expect", "internal/secret"},
	// Upstreams, and the headers of calls.
	"internal/plan/traffic": {"internal/suite", "internal/upstream", "internal/source"},
	// The rows of cases:.
	"internal/plan/rows": {"internal/suite", "internal/source", "internal/jsonv"},
	"internal/plan":      {"internal/plan/traffic", "internal/upstream", "internal/plan/rows", "internal/snapshot", "internal/mcp/protocol", "internal/suite", "internal/suite/interpolate", "internal/suite/lint", "internal/expect", "internal/source", "internal/jsonv", "internal/proc/probe", "internal/shellwords"},
	"internal/result":    {"internal/secret"},
	// Sessions with the servers of a plan, for a run and for the commands that
	// examine one server.
	"internal/connect":     {"internal/plan", "internal/mcp", "internal/mcp/protocol", "internal/mcp/wire", "internal/proc", "internal/proc/tail", "internal/proc/probe", "internal/shellwords", "internal/auth", "internal/jsonv"},
	"internal/run/respond": {"internal/plan", "internal/suite", "internal/mcp/protocol", "internal/jsonv"},
	"internal/run/doubles": {"internal/upstream", "internal/plan", "internal/result", "internal/jsonv"},
	"internal/run/pool": {
		"internal/run/doubles", "internal/run/respond", "internal/connect", "internal/plan", "internal/mcp", "internal/mcp/protocol", "internal/mcp/wire", "internal/mcp/check", "internal/proc", "internal/result", "internal/jsonv",
		"internal/source", "internal/surface",
	},
	"internal/run/fixture": {
		"internal/run/pool", "internal/run/respond", "internal/connect", "internal/plan", "internal/suite", "internal/mcp", "internal/mcp/protocol", "internal/mcp/check",
		"internal/proc", "internal/proc/tail", "internal/proc/probe", "internal/result", "internal/secret", "internal/jsonv", "internal/source",
	},
	"internal/run": {
		"internal/run/doubles", "internal/run/fixture", "internal/run/pool", "internal/run/respond", "internal/connect", "internal/coverage", "internal/surface", "internal/plan", "internal/suite", "internal/expect", "internal/snapshot",
		"internal/surface/assert", "internal/mcp", "internal/mcp/protocol", "internal/mcp/wire", "internal/mcp/check", "internal/proc", "internal/proc/tail", "internal/shellwords", "internal/result", "internal/secret", "internal/jsonv", "internal/source",
	},
	"internal/report": {
		"internal/report/pretty", "internal/report/ci", "internal/report/html", "internal/report/render",
		"internal/result", "internal/source", "internal/osfile",
	},
	// The families of formats, which do not import each other, and what they share.
	"internal/report/render":  {"internal/result", "internal/term"},
	"internal/report/explain": {"internal/report/render", "internal/result", "internal/source", "internal/term"},
	"internal/report/pretty":  {"internal/report/render", "internal/report/explain", "internal/result", "internal/term"},
	"internal/report/ci":      {"internal/report/render", "internal/report/explain", "internal/result", "internal/jsonv", "internal/term"},
	"internal/report/html":    {"internal/report/render", "internal/report/explain", "internal/result", "internal/term", "internal/jsonv"},
	"internal/report/compare": {"internal/report/render", "internal/report/explain", "internal/result", "internal/term"},
	"internal/mock":           {"internal/placeholder", "internal/expect/jsonpath", "internal/mcp/protocol", "internal/mcpserver", "internal/source", "internal/jsonv", "internal/jsonschema"},

	// MCP-AQL. The evaluation uses JavaScript's semantics, the table of rules and
	// the evidence. A live run only collects evidence, and a recording contains only
	// what passed between run and adapter, so neither imports the evaluation.
	"internal/aql/reference": {"internal/jsonv"},
	"internal/aql/rule":      {"internal/source"},
	"internal/aql/evidence":  {"internal/aql/reference", "internal/aql/rule", "internal/jsonv", "internal/shellwords", "internal/secret", "internal/source"},
	"internal/aql/verdict":   {"internal/aql/evidence", "internal/aql/rule", "internal/jsonv", "internal/result", "internal/source"},
	"internal/aql":           {"internal/aql/evidence", "internal/aql/reference", "internal/aql/rule", "internal/aql/verdict", "internal/jsonv"},
	"internal/aql/fixtures":  {"internal/aql", "internal/aql/evidence", "internal/aql/rule", "internal/aql/verdict", "internal/jsonv", "internal/source"},
	"internal/aql/semantic":  {"internal/aql/evidence", "internal/aql/reference", "internal/judge", "internal/jsonv"},
	// A live run: what the adapter describes, the calls and the data that they may
	// change, the tests.
	"internal/aql/live/catalog": {"internal/aql/evidence", "internal/aql/reference", "internal/aql/rule", "internal/jsonv"},
	"internal/aql/live/tape":    {"internal/aql/evidence", "internal/cassette", "internal/display", "internal/jsonv", "internal/mcp", "internal/mcp/protocol", "internal/secret"},
	"internal/aql/live/guard": {
		"internal/aql/live/catalog", "internal/aql/live/tape", "internal/aql/evidence", "internal/cassette", "internal/aql/reference", "internal/aql/rule", "internal/aql/semantic",
		"internal/jsonv", "internal/mcp", "internal/mcp/protocol", "internal/source",
	},
	"internal/aql/live/probe": {
		"internal/aql/live/guard", "internal/aql/live/catalog", "internal/aql/evidence", "internal/aql/reference", "internal/aql/rule", "internal/aql/semantic",
		"internal/judge", "internal/jsonv", "internal/mcp",
	},
	"internal/aql/live": {
		"internal/aql/live/probe", "internal/aql/live/guard", "internal/aql/live/catalog", "internal/aql/live/tape", "internal/aql/evidence",
		"internal/aql/reference", "internal/aql/rule", "internal/aql/semantic", "internal/jsonv", "internal/mcp", "internal/source",
	},
	// The demo adapter is a server; only the command line and tests run it.
	"internal/aql/demo": {"internal/mcp/protocol", "internal/mcpserver", "internal/jsonv", "internal/osfile"},
	"internal/judge":    {"internal/jsonv"},
	// The outcome of a quality gate in the formats of other programs.
	"internal/gate":   {"internal/source"},
	"internal/compat": {"internal/secret", "internal/source", "internal/jsonv", "internal/jsonschema", "internal/gate", "internal/term"},
	"internal/draft":  {"internal/jsonv", "internal/jsonschema", "internal/source", "schemas"},
	// What a server offers, its lock files, and the effect of changes.
	"internal/surface":          {"internal/jsonv", "internal/mcp/protocol", "internal/source", "internal/source/stored", "internal/secret", "internal/osfile"},
	"internal/surface/contain":  {"internal/jsonv", "internal/jsonschema"},
	"internal/surface/readme":   {"internal/surface", "internal/source", "internal/jsonv"},
	"internal/surface/checkout": {"internal/proc"},
	"internal/surface/assert":   {"internal/surface", "internal/surface/diff", "internal/jsonv", "internal/source"},
	"internal/surface/diff":     {"internal/surface", "internal/surface/contain", "internal/gate", "internal/jsonv", "internal/shellwords"},
	// How much of what servers offer the tests of a run examined.
	"internal/coverage": {"internal/surface", "internal/draft", "internal/expect/jsonpath", "internal/result", "internal/jsonv"},
	// What one run leaves for the next, and what --setup-only leaves running.
	"internal/history": {"internal/plan", "internal/suite", "internal/result", "internal/connect", "internal/mcp/protocol", "internal/secret", "internal/source", "internal/osfile"},
	"internal/detach":  {"internal/history", "internal/run", "internal/suite", "internal/proc", "internal/osfile"},
	// A connection that a person examines, and the diagnosis of a server.
	"internal/inspect": {"internal/surface", "internal/connect", "internal/mcp", "internal/mcp/check", "internal/mcp/protocol", "internal/mcp/wire", "internal/plan", "internal/source", "internal/jsonv"},
	"internal/doctor": {
		"internal/compat", "internal/inspect", "internal/connect", "internal/auth", "internal/mcp", "internal/mcp/check", "internal/mcp/protocol", "internal/mcp/wire", "internal/plan", "internal/proc", "internal/proc/tail", "internal/shellwords",
		"internal/jsonv", "internal/jsonschema",
	},
	"internal/scaffold": {"internal/draft", "internal/inspect", "internal/mcp", "internal/mcp/protocol", "internal/result", "internal/secret", "internal/jsonv"},
	// gen describes what other packages define; cli uses it for explain.
	"internal/gen":     {"internal/surface/assert", "internal/compat", "internal/snapshot", "internal/suite", "internal/expect", "internal/mcp/protocol", "internal/report", "internal/jsonv", "internal/source", "schemas"},
	"internal/cmdutil": {"internal/gen", "internal/run", "internal/term", "internal/proc", "internal/proc/pipe", "internal/secret", "internal/source", "internal/watchdog"},
	// All commands use option; those for one server are in a package of their own.
	"internal/cli/option": {
		"internal/upstream/recording",
		"internal/auth", "internal/cmdutil", "internal/connect", "internal/display", "internal/history", "internal/inspect", "internal/jsonv", "internal/mcp",
		"internal/mcp/protocol", "internal/mcp/wire", "internal/plan", "internal/proc", "internal/report", "internal/run", "internal/secret", "internal/snapshot", "internal/shellwords", "internal/source",
		"internal/suite", "internal/surface/diff", "internal/term",
	},
	"internal/cli/server": {
		"internal/auth", "internal/cli/option", "internal/cmdutil", "internal/compat", "internal/connect", "internal/display", "internal/doctor", "internal/gate",
		"internal/inspect", "internal/jsonv", "internal/mcp", "internal/mcp/protocol", "internal/mcpserver", "internal/mock", "internal/osfile", "internal/plan",
		"internal/run", "internal/secret", "internal/shellwords", "internal/source", "internal/suite", "internal/surface", "internal/surface/checkout", "internal/surface/diff",
		"internal/surface/readme", "internal/term",
	},
	"internal/clientconfig":     {"internal/jsonv", "internal/mcp/protocol", "internal/osfile"},
	"internal/cassette/verify":  {"internal/cassette", "internal/inspect", "internal/mcp", "internal/mcp/protocol", "internal/mcp/wire", "internal/proc", "internal/secret", "internal/surface", "internal/surface/diff", "internal/jsonv"},
	"internal/cassette/promote": {"internal/cassette", "internal/draft", "internal/mcp/check", "internal/mcp/protocol", "internal/secret", "internal/source", "internal/surface", "internal/jsonv"},
	"internal/cassette/serve":   {"internal/cassette", "internal/mcp/protocol", "internal/mcpserver", "internal/secret", "internal/jsonv"},
	"internal/cli/tape": {
		"internal/cassette", "internal/cassette/serve", "internal/cassette/promote", "internal/cassette/tee", "internal/cassette/transport", "internal/cassette/verify", "internal/plan", "internal/inspect", "internal/mcp", "internal/mcp/check", "internal/mcp/protocol", "internal/mcpserver", "internal/scaffold", "internal/jsonv", "internal/surface", "internal/surface/diff", "internal/cli/option", "internal/connect", "internal/clientconfig", "internal/cmdutil", "internal/display", "internal/proc",
		"internal/secret", "internal/shellwords", "internal/suite", "internal/term",
	},
	"internal/cli/playback": {
		"internal/cassette", "internal/cassette/transport", "internal/cli/option", "internal/cmdutil", "internal/display", "internal/plan", "internal/result", "internal/run", "internal/secret", "internal/term",
	},
	"internal/watch": {"internal/plan", "internal/run", "internal/suite", "internal/term"},
	"internal/cli/upstreams": {
		"internal/cli/option", "internal/draft", "internal/plan", "internal/result", "internal/run", "internal/run/doubles", "internal/secret", "internal/source", "internal/suite", "internal/term",
		"internal/upstream", "internal/upstream/proxy", "internal/upstream/recording",
	},
	"internal/cli": {
		"internal/watch", "internal/cli/upstreams", "internal/cli/option", "internal/cli/playback", "internal/cli/server", "internal/cli/tape", "internal/cmdutil", "internal/connect", "internal/detach", "internal/display", "internal/draft", "internal/gen", "internal/history",
		"internal/inspect", "internal/jsonv", "internal/mcp", "internal/mcp/protocol", "internal/mcp/wire", "internal/mock", "internal/osfile", "internal/plan",
		"internal/proc", "internal/report", "internal/report/compare", "internal/report/pretty", "internal/report/render", "internal/result", "internal/run", "internal/scaffold",
		"internal/secret", "internal/shellwords", "internal/snapshot", "internal/source", "internal/suite", "internal/term", "internal/upstream/proxy", "schemas",
	},
	"internal/aqlcli": {
		"internal/cmdutil", "internal/gen", "internal/report", "internal/report/render", "internal/run", "internal/aql", "internal/aql/demo", "internal/aql/evidence", "internal/aql/fixtures", "internal/aql/live", "internal/aql/live/guard", "internal/aql/live/tape", "internal/cassette",
		"internal/aql/rule", "internal/aql/semantic", "internal/aql/verdict", "internal/judge", "internal/mcp", "internal/mcp/wire", "internal/mcpserver",
		"internal/proc", "internal/shellwords", "internal/result", "internal/secret", "internal/jsonv", "internal/source", "internal/term", "internal/osfile",
	},

	"internal/dev/arch":          {},
	"internal/conformance":   {}, // runs the compiled programs
	"internal/bench":         {}, // tests only
	"internal/packaging":     {"schemas"},
	"internal/faults":        {}, // tests only
	"internal/flaky":         {}, // for tests
	"internal/testkit":       {}, // for tests
	"schemas":                {},
	"cmd/mcptest":            {"internal/cli", "internal/cmdutil"},
	"cmd/mcpaql-conformance": {"internal/aqlcli", "internal/cmdutil"},
	".":                      {all}, // the public package, for Go tests
}

// testOnly marks a module that only _test.go files may import.
const testOnly = "tests"

// modules lists the packages that may import a third-party module: as few as
// possible, so that the module can be replaced. The longest matching path counts.
var modules = map[string][]string{
	"go.yaml.in/yaml/v4":                     {"internal/source"},
	"github.com/santhosh-tekuri/jsonschema":  {"internal/jsonschema"},
	"github.com/dlclark/regexp2":             {"internal/jsonschema"},
	"mvdan.cc/sh/v3":                         {"internal/shellwords"},
	"github.com/aymanbagabas/go-udiff":       {"internal/expect/textdiff"},
	"github.com/clipperhouse/displaywidth":   {"internal/display", "internal/source"}, // how wide a text is
	"github.com/fsnotify/fsnotify":           {"internal/watch"},
	"golang.org/x/term":                      {"internal/term"},
	"golang.org/x/sys":                       {"internal/proc", "internal/proc/pipe", "internal/term", "internal/osfile", "internal/upstream/proxy"},
	"golang.org/x/text":                      {"internal/jsonschema"}, // the schema library's message printer
	"github.com/spf13":                       {"internal/cli", "internal/cli/upstreams", "internal/cli/tape", "internal/cli/option", "internal/cli/playback", "internal/cli/server", "internal/cmdutil", "internal/aqlcli"},
	"github.com/modelcontextprotocol/go-sdk": {"internal/auth", testOnly}, // its package oauthex
	"golang.org/x/oauth2":                    {"internal/auth"},
	"github.com/google/go-cmp":               {testOnly},
	"github.com/rogpeppe/go-internal":        {testOnly},
	"pgregory.net/rapid":                     {testOnly},
	"go.uber.org/goleak":                     {testOnly},
}

func TestImportsFollowTheTable(t *testing.T) {
	t.Parallel()
	files := loadTree(t)
	for _, p := range packages(files) {
		if _, ok := edges[p]; !ok {
			t.Errorf("package %s has no row in the table of edges: decide what it may import and add one", p)
		}
	}
	for _, f := range files {
		if f.external { // an external test may use other packages as a user would
			continue
		}
		for _, ip := range f.imports {
			to, ok := ours(ip)
			if !ok || to == anywhere || slices.Contains(edges[f.pkg], all) || slices.Contains(edges[f.pkg], to) {
				continue
			}
			t.Errorf("%s imports %s: %s may import %v", f.rel, to, f.pkg, edges[f.pkg])
		}
	}
}

func TestTableHasNoCycle(t *testing.T) {
	t.Parallel()
	state := map[string]int{} // 1: on the path, 2: done
	var visit func(p string, trail []string)
	visit = func(p string, trail []string) {
		switch state[p] {
		case 1:
			t.Errorf("cycle in the table: %s", strings.Join(append(trail, p), " → "))
			return
		case 2:
			return
		}
		state[p] = 1
		for _, q := range edges[p] {
			if q == all {
				continue
			}
			if _, ok := edges[q]; !ok {
				t.Errorf("the row of %s names %s, which has no row", p, q)
			}
			visit(q, append(trail, p))
		}
		state[p] = 2
	}
	for _, p := range slices.Sorted(maps.Keys(edges)) {
		visit(p, nil)
	}
}

func TestModulesAreImportedInOnePackage(t *testing.T) {
	t.Parallel()
	for _, f := range loadTree(t) {
		for _, ip := range f.imports {
			if _, our := ours(ip); our || !strings.Contains(strings.Split(ip, "/")[0], ".") {
				continue // this module or the standard library
			}
			key, ok := longestPrefix(ip)
			switch {
			case !ok:
				t.Errorf("%s imports %s: no row for it in the table of modules (docs/adr/0009-dependency-policy.md)", f.rel, ip)
			case f.test || slices.Contains(modules[key], f.pkg):
			case slices.Contains(modules[key], testOnly):
				t.Errorf("%s imports %s, which only tests may use", f.rel, ip)
			default:
				t.Errorf("%s imports %s, which belongs to %v", f.rel, ip, modules[key])
			}
		}
	}
}

func longestPrefix(importPath string) (string, bool) {
	best := ""
	for m := range modules {
		if (importPath == m || strings.HasPrefix(importPath, m+"/")) && len(m) > len(best) {
			best = m
		}
	}
	return best, best != ""
}

const (
	arrowsBegin = "      # arrows: begin (written by go test ./internal/dev/arch -update)\n"
	arrowsEnd   = "      # arrows: end\n"
)

// TestLinterKnowsTheArrows keeps the depguard section of .golangci.yml, which
// shows a wrong import in the editor, equal to the table.
func TestLinterKnowsTheArrows(t *testing.T) {
	t.Parallel()
	name := filepath.Join(repoRoot(t), ".golangci.yml")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := bytes.Cut(data, []byte(arrowsBegin))
	_, tail, ok2 := bytes.Cut(rest, []byte(arrowsEnd))
	if !ok || !ok2 {
		t.Fatalf("%s lacks the lines %q and %q", name, arrowsBegin, arrowsEnd)
	}
	want := slices.Concat(head, []byte(arrowsBegin), depguardRules(), []byte(arrowsEnd), tail)
	if bytes.Equal(data, want) {
		return
	}
	if !*update {
		t.Fatal("the depguard rules in .golangci.yml differ from the table of edges: go test ./internal/dev/arch -update")
	}
	if err := os.WriteFile(name, want, 0o644); err != nil {
		t.Fatal(err)
	}
}

// depguardRules writes one rule per package. It denies the module and allows longer
// prefixes, which take precedence.
func depguardRules() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "      rules:\n")
	for _, p := range slices.Sorted(maps.Keys(edges)) {
		if p == "." || slices.Contains(edges[p], all) {
			continue
		}
		fmt.Fprintf(&b, "        %s:\n", strings.NewReplacer("/", "-").Replace(p))
		fmt.Fprintf(&b, "          list-mode: lax\n")
		fmt.Fprintf(&b, "          files: [\"**/%s/*.go\", \"!$test\"]\n", p)
		fmt.Fprintf(&b, "          deny: [{pkg: %s, desc: \"see the table in internal/dev/arch/edges_test.go\"}]\n", module)
		fmt.Fprintf(&b, "          allow:\n")
		for _, q := range append([]string{anywhere}, edges[p]...) {
			fmt.Fprintf(&b, "            - %s/%s\n", module, q)
		}
	}
	return b.Bytes()
}
