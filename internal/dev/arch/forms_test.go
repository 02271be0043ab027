package arch_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"testing"
)

// TestPlainForms fails for forms that hide a step: an expression that makes its reader stop
// where a statement would not.
func TestPlainForms(t *testing.T) {
	t.Parallel()
	for _, f := range loadTree(t) {
		if f.generated || f.test {
			continue
		}
		for _, found := range hiddenSteps(f.syntax) {
			t.Errorf("%s:%d: %s", f.rel, f.fset.Position(found.at).Line, found.what)
		}
	}
}

type hiddenStep struct {
	at   token.Pos
	what string
}

// hiddenSteps finds maps that are made to choose one of their values, and the init of a
// switch that the switch is not about.
func hiddenSteps(file *ast.File) (found []hiddenStep) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IndexExpr:
			if lit, ok := n.X.(*ast.CompositeLit); ok && isChoice(lit) {
				found = append(found, hiddenStep{n.Pos(), "a map chooses between values: write an if or a switch"})
			}
		case *ast.SwitchStmt:
			if n.Init != nil && n.Tag == nil {
				found = append(found, hiddenStep{n.Pos(), "a switch without a subject has an init: write it on the line above"})
			}
		}
		return true
	})
	return found
}

// isChoice reports whether a map has conditions as keys or pointers as values.
func isChoice(lit *ast.CompositeLit) bool {
	m, ok := lit.Type.(*ast.MapType)
	if !ok {
		return false
	}
	if key, ok := m.Key.(*ast.Ident); ok && key.Name == "bool" {
		return true
	}
	_, pointers := m.Value.(*ast.StarExpr)
	return pointers
}

// TestHiddenStepsAreFound makes sure that the test above can fail.
func TestHiddenStepsAreFound(t *testing.T) {
	t.Parallel()
	const src = `package p
func f(a, b int) string {
	switch c := a + b; {
	case c > 1:
		*map[string]*int{"a": &a}["a"] = 1
	}
	switch c := a + b; c {
	}
	names := map[int]string{1: "one"}[a]
	return names + map[bool]string{true: "was", false: "were"}[a == 1]
}
`
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for _, step := range hiddenSteps(file) {
		got = append(got, fset.Position(step.at).Line)
	}
	if want := []int{3, 5, 10}; !slices.Equal(got, want) {
		t.Errorf("found in the lines %v, want %v", got, want)
	}
}
