package arch_test

import (
	"slices"
	"strings"
	"testing"
)

// forTests may be imported by every test, and by nothing else: it uses modules that are
// only for tests.
const forTests = "internal/base/testkit"

// A ban forbids an import that the rooms allow. Names are packages, and stand for what is
// below them, too, if they end with a slash.
type ban struct{ from, to, why string }

// bans are all bans. The rooms say which room may import which; inside a room, and where no
// ban says otherwise, any package may import any other, as long as Go finds no cycle.
var bans = []ban{
	{"internal/base/lists", "internal/", "it is like a package of the standard library"},
	{"internal/base/display", "internal/", "every package imports it"},
	{"internal/process/watchdog", "internal/", "it has almost no imports, so that it is initialized first"},
	{"internal/server/", "internal/client/mcp", "the server half of MCP does not use the client half"},
	{"internal/server/", "internal/client/conn", "the server half of MCP does not use the client half"},
	{"internal/server/", "internal/client/auth", "the server half of MCP does not use the client half"},
	{"internal/server/", "internal/client/check", "the server half of MCP does not use the client half"},
	{"internal/report/result", "internal/report/", "the record knows no format"},
	{"internal/report/render", "internal/report/pretty", "what formats share knows no format"},
	{"internal/report/render", "internal/report/ci", "what formats share knows no format"},
	{"internal/report/render", "internal/report/html", "what formats share knows no format"},
	{"internal/report/pretty", "internal/report/ci", "the families of formats do not know each other"},
	{"internal/report/pretty", "internal/report/html", "the families of formats do not know each other"},
	{"internal/report/ci", "internal/report/html", "the families of formats do not know each other"},
	{"internal/report/ci", "internal/report/pretty", "the families of formats do not know each other"},
	{"internal/report/html", "internal/report/ci", "the families of formats do not know each other"},
	{"internal/report/html", "internal/report/pretty", "the families of formats do not know each other"},
	{"internal/run/", "internal/report", "a run sends events, and knows no format of a run's record"},
	{"internal/run/", "internal/report/pretty", "a run sends events, and knows no format of a run's record"},
	{"internal/run/", "internal/report/ci", "a run sends events, and knows no format of a run's record"},
	{"internal/run/connect", "internal/run", "connections are below the run"},
	{"internal/offer/compat", "internal/client/mcp", "it reads files, without a network"},
	{"internal/client/handshake", "internal/client/wire", "it reads values, without a network"},
	{"internal/mcpaql/live/", "internal/mcpaql/aql", "a live run only collects evidence, and does not judge it"},
	{"internal/mcpaql/live/", "internal/mcpaql/verdict", "a live run only collects evidence, and does not judge it"},
	{"internal/mcpaql/aql", "internal/mcpaql/live/", "the evaluation reads evidence, wherever it comes from"},
}

// commands are what the two programs import.
var commands = []string{"internal/cli", "internal/cli/cmdutil", "internal/mcpaql/aqlcli"}

// covers reports whether a name of a ban stands for a package.
func covers(name, pkg string) bool {
	below, isTree := strings.CutSuffix(name, "/")
	return pkg == below || isTree && strings.HasPrefix(pkg, name)
}

func TestBannedImports(t *testing.T) {
	t.Parallel()
	files := loadTree(t)
	for _, f := range files {
		if f.external { // an external test may use other packages as a user would
			continue
		}
		for _, path := range f.imports {
			to, ok := ours(path)
			switch {
			case !ok:
			case to == forTests && !f.test:
				t.Errorf("%s imports %s, which is only for tests", f.rel, to)
			case to == forTests:
			case strings.HasPrefix(f.pkg, "cmd/") && !slices.Contains(commands, to):
				t.Errorf("%s imports %s: a program has no code of its own, and imports only %v", f.rel, to, commands)
			default:
				i := slices.IndexFunc(bans, func(b ban) bool {
					return covers(b.from, f.pkg) && covers(b.to, to) && f.pkg != to
				})
				if i >= 0 {
					t.Errorf("%s imports %s: %s", f.rel, to, bans[i].why)
				}
			}
		}
	}
	known := packages(files)
	for _, b := range bans { // a ban that names nothing forbids nothing
		for _, name := range []string{b.from, b.to} {
			if !slices.ContainsFunc(known, func(p string) bool { return covers(name, p) || strings.HasPrefix(p, name) }) {
				t.Errorf("a ban names %s, which does not exist", name)
			}
		}
	}
}

// testOnly marks a module that only _test.go files may import.
const testOnly = "tests"

// modules lists the packages that may import a third-party module: as few as
// possible, so that the module can be replaced. The longest matching path counts.
var modules = map[string][]string{
	"go.yaml.in/yaml/v4":                     {"internal/base/source"},
	"github.com/santhosh-tekuri/jsonschema":  {testOnly}, // what package engine is compared with
	"github.com/dlclark/regexp2":             {"internal/base/jsonschema/engine"},
	"mvdan.cc/sh/v3":                         {"internal/base/shellwords"},
	"github.com/aymanbagabas/go-udiff":       {"internal/assert/textdiff"},
	"github.com/clipperhouse/displaywidth":   {"internal/base/display", "internal/base/source"}, // how wide a text is
	"github.com/fsnotify/fsnotify":           {"internal/run/watch"},
	"github.com/valyala/quicktemplate":       {"internal/report/html"},
	"golang.org/x/term":                      {"internal/base/term"},
	"golang.org/x/sys":                       {"internal/process/proc", "internal/process/pipe", "internal/base/term", "internal/base/osfile", "internal/server/proxy"},
	"github.com/spf13":                       {"internal/cli/", "internal/mcpaql/aqlcli"},
	"github.com/modelcontextprotocol/go-sdk": {"internal/client/auth", testOnly}, // its package oauthex
	"golang.org/x/oauth2":                    {"internal/client/auth"},
	"golang.org/x/net":                       {"internal/offer/apps"}, // its package html
	"github.com/uudashr/gocognit":            {testOnly},
	"github.com/google/go-cmp":               {"internal/base/testkit", testOnly},
	"github.com/rogpeppe/go-internal":        {testOnly},
	"pgregory.net/rapid":                     {testOnly},
	"go.uber.org/goleak":                     {testOnly},
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
			case f.test || slices.ContainsFunc(modules[key], func(name string) bool { return covers(name, f.pkg) }):
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
