package probe

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mcptest/internal/client/protocol"
	"mcptest/internal/offer/ruleset"
)

// Each rule has an id of its own, a known family, and a sentence if it is binding.
func TestRulesAreComplete(t *testing.T) {
	rules, err := ruleset.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, r := range rules.Rules {
		if seen[r.ID] {
			t.Errorf("rule %s is listed twice", r.ID)
		}
		seen[r.ID] = true
		if !slices.ContainsFunc(rules.Families, func(f ruleset.Family) bool { return f.Name == r.Family }) {
			t.Errorf("rule %s: unknown family %q", r.ID, r.Family)
		}
		revisions := map[string]bool{}
		for _, c := range r.In {
			if c.Level != ruleset.Practice && (c.Sentence == "" || c.Clause == "") {
				t.Errorf("rule %s is %s without a clause or sentence", r.ID, c.Level)
			}
			for _, revision := range c.Revisions {
				if !protocol.VersionOf(revision).Known() || revisions[revision] {
					t.Errorf("rule %s: revision %q is unknown or listed twice", r.ID, revision)
				}
				revisions[revision] = true
			}
		}
	}
}

// Code and table name the same rules: each rule is in the code, and each rule that code
// checks or enters is in the table.
func TestRulesHaveCode(t *testing.T) {
	rules, err := ruleset.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	err = filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); err == nil {
					named[text] = true
				}
			case *ast.CallExpr:
				for _, id := range examined(n) {
					if _, ok := rules.Rule(id); !ok {
						t.Errorf("%s: rule %s is examined, but not in the table", path, id)
					}
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules.Rules {
		if !named[r.ID] && !strings.HasPrefix(r.ID, "capability-") {
			t.Errorf("no code examines rule %s", r.ID)
		}
	}
}

// examined are the rules that a call checks or enters, as far as they are written there.
func examined(call *ast.CallExpr) (rules []string) {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) < 2 {
		return nil
	}
	var args []ast.Expr
	switch strings.ToLower(method.Sel.Name) {
	case "check", "state", "refuses", "elements":
		args = call.Args[1:2]
	case "enter":
		args = call.Args[1:]
	}
	for _, arg := range args {
		if lit, ok := arg.(*ast.BasicLit); ok {
			rule, _ := strconv.Unquote(lit.Value)
			rules = append(rules, rule)
		}
	}
	return rules
}
