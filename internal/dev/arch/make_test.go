package arch_test

import (
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var deepList = regexp.MustCompile(`(?m)^DEEP_(PACKAGES|TESTS) +:= (.*)$`)

// TestDeepTargetNamesItsTests: `make deep` runs every test that depends on
// testkit.Deep, and each name in its lists exists.
func TestDeepTargetNamesItsTests(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile(filepath.Join(repoRoot(t), "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	lists := map[string][]string{}
	for _, m := range deepList.FindAllSubmatch(makefile, -1) {
		lists[string(m[1])] = strings.FieldsFunc(string(m[2]), func(r rune) bool { return r == ' ' || r == '|' })
	}
	declared := map[string]bool{}
	for _, f := range loadTree(t) {
		pkg := strings.TrimPrefix(f.pkg, "internal/")
		for _, d := range f.syntax.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !f.test || !strings.HasPrefix(fn.Name.Name, "Test") {
				continue
			}
			name := strings.TrimPrefix(fn.Name.Name, "Test")
			if slices.Contains(lists["PACKAGES"], pkg) {
				declared[name] = true
			}
			if usesDeep(fn) && !(slices.Contains(lists["TESTS"], name) && slices.Contains(lists["PACKAGES"], pkg)) {
				t.Errorf("%s: %s depends on testkit.Deep, and `make deep` does not run it", f.rel, fn.Name.Name)
			}
		}
	}
	for _, name := range lists["TESTS"] {
		if !declared[name] {
			t.Errorf("`make deep` names Test%s, which none of its packages declares", name)
		}
	}
}

// usesDeep reports whether a test calls testkit.Deep or testkit.Count.
func usesDeep(fn *ast.FuncDecl) bool {
	found := false
	ast.Inspect(fn, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			x, _ := s.X.(*ast.Ident)
			found = found || x != nil && x.Name == "testkit" && (s.Sel.Name == "Deep" || s.Sel.Name == "Count")
		}
		return true
	})
	return found
}

// TestUpdatesCoverEveryLockFile: the configuration of dependency updates names each
// folder with a lock file.
func TestUpdatesCoverEveryLockFile(t *testing.T) {
	t.Parallel()
	root := repoRoot(t)
	config, err := os.ReadFile(filepath.Join(root, ".github", "dependabot.yml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range committed(t, root) {
		base := path.Base(name)
		if base != "go.mod" && base != "package-lock.json" {
			continue
		}
		dir := path.Join("/", path.Dir(name))
		if !regexp.MustCompile(`[\[ ]` + regexp.QuoteMeta(dir) + `[,\]]`).Match(config) {
			t.Errorf(".github/dependabot.yml does not name %s, the folder of %s", dir, name)
		}
	}
}
