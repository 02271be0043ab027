package arch_test

import (
	"go/ast"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"mcptest/internal/base/testkit"
)

// TestLinkerDropsMethods: nothing in the programs looks up methods by a name that is
// computed, as text/template does for {{.Name}}. If anything does, the linker has to keep
// all exported methods of all types: 3 to 5 MB, of which each start reads 2.
func TestLinkerDropsMethods(t *testing.T) {
	t.Parallel()
	if !testkit.Deep() {
		t.Skip("only in make deep: it links both programs")
	}
	cmd := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-s -w -dumpdep", "-o", os.DevNull, "./cmd/...")
	cmd.Dir = repoRoot(t)
	out, err := cmd.CombinedOutput() // lines "caller -> called <marks>" below "# program"
	if err != nil {
		t.Fatalf("%v\n%s", err, out[max(0, len(out)-2000):])
	}
	for program := range strings.SplitSeq("\n"+string(out), "\n# ") {
		name, arrows, _ := strings.Cut(program, "\n")
		if name == "" {
			continue
		}
		if !strings.Contains(arrows, "main.main -> ") || !strings.Contains(arrows, " <UsedInIface") {
			t.Errorf("%s: the linker's list of dependencies has changed its form", name)
		}
		for line := range strings.Lines(arrows) {
			caller, called, _ := strings.Cut(strings.TrimSpace(line), " -> ")
			if lookup, marks, _ := strings.Cut(called, " <"); strings.Contains(marks, "ReflectMethod") && !strings.HasPrefix(lookup, "reflect.") {
				t.Errorf("%s: %s looks up methods by name, so that the linker keeps every exported method. It is linked because of %s (and that because of others: go build -ldflags=-dumpdep). "+
					"Use what does not need it: a template in a .qtpl file, a function instead of a template", name, lookup, caller)
			}
		}
	}
	if n := strings.Count("\n"+string(out), "\n# "); n != 2 {
		t.Errorf("the linker listed %d programs, expected 2", n)
	}
}

// TestStartsCompileNoExpressions: no package compiles a regular expression when the program
// starts. Seventeen of them took 0.15 MB of each start, which was enough for a garbage
// collection of 2.5 ms in a run of one test.
func TestStartsCompileNoExpressions(t *testing.T) {
	t.Parallel()
	for _, f := range loadTree(t) {
		if f.test || strings.HasPrefix(f.pkg, "internal/dev/") {
			continue
		}
		for _, decl := range f.syntax.Decls {
			if vars, ok := decl.(*ast.GenDecl); ok {
				ast.Inspect(vars, func(n ast.Node) bool {
					if call, ok := n.(*ast.CallExpr); ok && types.ExprString(call.Fun) == "regexp.MustCompile" {
						t.Errorf("%s: a regular expression is compiled at each start: use lazy.Regexp", f.rel)
					}
					_, function := n.(*ast.FuncLit)
					return !function
				})
			}
		}
	}
}

// Limits of what the packages of a program allocate before main, in bytes. Each start pays for
// it, also the one of a mock server and of the watchdog. Bytes don't vary with the load, as
// times do.
const (
	maxPackageInit = 32<<10 + 256 // maps differ by some bytes from start to start
	maxProgramInit = 250_000
)

// costlyInits are packages that may allocate more, with the reason.
var costlyInits = map[string]string{
	"golang.org/x/net/html": "the table of the named characters of HTML; pages of MCP Apps are parsed with it, as browsers do",
}

// TestInitializationIsSmall: what the packages of mcptest allocate before main is bounded. An
// exception that is not needed fails.
func TestInitializationIsSmall(t *testing.T) {
	t.Parallel()
	if !testkit.Deep() {
		t.Skip("only in make deep: it links the program")
	}
	program := filepath.Join(t.TempDir(), "mcptest")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", program, "./cmd/mcptest")
	build.Dir = repoRoot(t)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	start := exec.Command(program, "version")
	start.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := start.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	sum, excused := 0, map[string]bool{}
	lines := regexp.MustCompile(`(?m)^init (\S+) @.* (\d+) bytes, \d+ allocs$`).FindAllStringSubmatch(string(out), -1)
	for _, line := range lines {
		name := line[1]
		bytes, _ := strconv.Atoi(line[2])
		switch {
		case costlyInits[name] != "" && bytes > maxPackageInit:
			excused[name] = true
			continue
		case bytes > maxPackageInit:
			t.Errorf("%s allocates %d bytes before main, at most %d are allowed: build it on first use", name, bytes, maxPackageInit)
		}
		sum += bytes
	}
	if len(lines) < 50 {
		t.Errorf("%d packages were found: the trace of initialization has changed its form", len(lines))
	}
	if sum > maxProgramInit {
		t.Errorf("the packages allocate %d bytes before main, at most %d are allowed", sum, maxProgramInit)
	}
	for name := range costlyInits {
		if !excused[name] {
			t.Errorf("%s no longer needs its exception", name)
		}
	}
	t.Logf("%d packages allocate %d bytes before main, without the exceptions", len(lines), sum)
}
