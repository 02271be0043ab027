package arch_test

import (
	"go/ast"
	"go/scanner"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Budgets of a package and of a type. Larger ones are listed by name with a ceiling.
const (
	packageCode   = 2500 // lines of code, without tests, comments and blank lines
	typeMethods   = 40
	typeFiles     = 6
	productMCP    = 52000 // mcptest
	productMCPAQL = 14000
)

// largerPackages are the packages over the budget, with a ceiling, which may only be
// lowered, and the reason.
var largerPackages = map[string]struct {
	code   int
	reason string
}{
	"internal/assert/expect":     {4310, "36 matchers, one concept a file, over one compiler and one evaluation"},
	"internal/run":               {2560, "the order of everything in one run; sessions, doubles and steps are packages below it"},
	"internal/mcpaql/live/guard": {2900, "one run: all that protects the data of others needs the same state"},
	"internal/client/wire":       {2510, "every transport behind one receiver; a policy of retries more"},
	"internal/process/proc":      {2510, "five mechanisms against processes that stay (ADR 0011), and the cause of an interrupted run"},
	"internal/server/mock":       {3400, "one manifest language: responses, faults, tasks and their templates"},
}

// largerTypes are the receivers over the budget: methods, files, and the reason.
var largerTypes = map[string]struct {
	methods, files int
	reason         string
}{
	"internal/mcpaql/aql.judgement":  {25, 8, "one row each: the checks of a bundle"},
	"internal/mcpaql/aql.evaluation": {50, 8, "the verdict on one rule, by category"},
	"internal/mcpaql/demo.Adapter":   {60, 11, "one server that can break every rule"},
	"internal/mcpaql/aqlcli.call":    {60, 10, "the flags and streams of one command"},
}

// TestBudgets fails when a package or a receiver exceeds its budget, and prints
// the table: go test -v -run TestBudgets ./internal/dev/arch.
func TestBudgets(t *testing.T) {
	t.Parallel()
	root := repoRoot(t)
	code := map[string]int{}
	files := map[string]int{}
	receivers := map[string]*receiver{}
	for _, f := range loadTree(t) {
		if f.test {
			continue
		}
		n, err := codeLines(filepath.Join(root, f.rel))
		if err != nil {
			t.Fatal(err)
		}
		code[f.pkg] += n
		files[f.pkg]++
		addMethods(receivers, f)
	}
	var mcptest, aql int
	for _, pkg := range slices.Sorted(maps.Keys(code)) {
		limit := max(packageCode, largerPackages[pkg].code)
		t.Logf("%-28s %3d files %6d lines of code %6d allowed  %s", pkg, files[pkg], code[pkg], limit, largerPackages[pkg].reason)
		if code[pkg] > limit {
			t.Errorf("package %s has %d lines of code, the limit is %d", pkg, code[pkg], limit)
		}
		if strings.HasPrefix(pkg, "internal/mcpaql/") || pkg == "cmd/mcpaql-conformance" {
			aql += code[pkg]
		} else {
			mcptest += code[pkg]
		}
	}
	t.Logf("mcptest %d (target %d), MCP-AQL %d (target %d)", mcptest, productMCP, aql, productMCPAQL)
	for _, name := range slices.Sorted(maps.Keys(receivers)) {
		r := receivers[name]
		larger := largerTypes[name]
		methods, inFiles := max(typeMethods, larger.methods), max(typeFiles, larger.files)
		if larger.methods > 0 {
			t.Logf("%-28s %3d methods in %2d files, %d in %d allowed  %s", name, r.methods, len(r.files), methods, inFiles, larger.reason)
		}
		if r.methods > methods || len(r.files) > inFiles {
			t.Errorf("type %s has %d methods in %d files, the limit is %d in %d", name, r.methods, len(r.files), methods, inFiles)
		}
	}
}

// receiver is a type with methods.
type receiver struct {
	methods int
	files   map[string]bool
}

func addMethods(all map[string]*receiver, f goFile) {
	for _, d := range f.syntax.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Recv == nil {
			continue
		}
		name := f.pkg + "." + rootIdent(receiverType(fn.Recv.List[0].Type)).Name
		if all[name] == nil {
			all[name] = &receiver{files: map[string]bool{}}
		}
		all[name].methods++
		all[name].files[f.rel] = true
	}
}

// receiverType removes the pointer and the type parameters from a receiver.
func receiverType(e ast.Expr) ast.Expr {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiverType(e.X)
	case *ast.IndexExpr:
		return receiverType(e.X)
	case *ast.IndexListExpr:
		return receiverType(e.X)
	}
	return e
}

// codeLines counts the lines of a file with a token that is not a comment.
func codeLines(name string) (int, error) {
	src, err := os.ReadFile(name)
	if err != nil {
		return 0, err
	}
	file := token.NewFileSet().AddFile(name, -1, len(src))
	var s scanner.Scanner
	s.Init(file, src, nil, 0)
	lines := map[int]bool{}
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return len(lines), nil
		}
		if tok == token.SEMICOLON && lit == "\n" {
			continue
		}
		first := file.Line(pos)
		for i := range 1 + strings.Count(lit, "\n") {
			lines[first+i] = true
		}
	}
}
