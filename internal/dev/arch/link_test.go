package arch_test

import (
	"go/ast"
	"go/types"
	"os"
	"os/exec"
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
