package arch_test

import (
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Budgets of a package and of a type. Larger ones are listed by name with a ceiling.
const (
	packageCode  = 2500 // lines of code, without tests, comments and blank lines
	typeMethods  = 40   // methods, and functions whose first parameter is the type
	typePhases   = 6    // files with such methods and functions
	phaseMethods = 25   // of one type in one file
)

// products are the sums of lines of code of the packages of each product: what it may
// have, and the target. A ceiling may only fall, except by the estimate of a feature
// that the target does not count yet: 1,500 for first impressions, 750 for tests of the
// boundary, 1,550 for probes, which need 2,950 more, 950 for leaks and load, 1,600 for
// agents, which with probes of suites needed 3,300 more, 680 to finish both,
// and 190 for messages about the mistakes of newcomers. The target of mcptest is that of
// its state before probes, agents and load, and 88,500 with them.
var products = map[string]struct{ ceiling, target int }{
	"mcptest": {97181, 82000},
	"MCP-AQL": {14499, 14500},
}

// largerPackages are the packages over the budget, with a ceiling, which may only be
// lowered, and the reason.
var largerPackages = map[string]struct {
	code   int
	reason string
}{
	"internal/run":        {2740, "the order of everything in one run; sessions, doubles and steps are packages below it"},
	"internal/spec/plan":  {2600, "every key of the language ends here; rows and doubles are packages below it"},
	"internal/spec/suite": {2890, "one struct for each part of the language"},
}

// largerTypes are the types over the budget: methods and functions, files, and the
// reason.
var largerTypes = map[string]struct {
	methods, files int
	reason         string
}{
	"internal/assert/match.Compiler":  {41, 17, "each matcher compiles its own argument, next to its row"},
	"internal/base/jsonv.Value":       {42, 9, "one value: reading, changing, walking, comparing and printing it"},
	"internal/mcpaql/aql.evaluation":  {48, 6, "the verdict on one rule, by category"},
	"internal/mcpaql/aqlcli.call":     {62, 8, "the flags and streams of one command"},
	"internal/mcpaql/demo.Adapter":    {56, 7, "one server that can break every rule"},
	"internal/process/proc.Process":   {29, 8, "one process on each system"},
	"internal/tape/cassette.Cassette": {16, 7, "what a file of recorded traffic says, by who asks"},
	"internal/run.attempt":            {45, 8, "one attempt: open, scope, call, repeat, observe, judge, measure, snapshots"},
	"internal/spec/plan.compiler":     {42, 10, "one file of a suite, by what it compiles"},
}

// TestBudgets fails when a product, a package or a type exceeds its budget, and prints
// the table: go test -v -run TestBudgets ./internal/dev/arch. Tests and what only they import
// do not count, nor does generated code: what it is generated from is what somebody maintains.
func TestBudgets(t *testing.T) {
	t.Parallel()
	root := repoRoot(t)
	code := map[string]int{}
	files := map[string]int{}
	methods := map[string]map[string]int{} // by type and file
	for _, f := range loadTree(t) {
		if f.test || f.generated || f.pkg == forTests {
			continue
		}
		n, err := codeLines(filepath.Join(root, f.rel))
		if err != nil {
			t.Fatal(err)
		}
		code[f.pkg] += n
		files[f.pkg]++
		addMethods(methods, f)
	}
	sum := map[string]int{}
	for _, pkg := range slices.Sorted(maps.Keys(code)) {
		limit := max(packageCode, largerPackages[pkg].code)
		t.Logf("%-28s %3d files %6d lines of code %6d allowed  %s", pkg, files[pkg], code[pkg], limit, largerPackages[pkg].reason)
		if code[pkg] > limit {
			t.Errorf("package %s has %d lines of code, the limit is %d. Ways out: divide it where it divides (TestArrowsBetweenFiles prints which of its files use each other), "+
				"move what another package owns (with room next door: %s), or write less. A ceiling in largerPackages needs a reason and may only fall",
				pkg, code[pkg], limit, strings.Join(withRoom(code, pkg), ", "))
		}
		product := "mcptest"
		if strings.HasPrefix(pkg, "internal/mcpaql/") || pkg == "cmd/mcpaql-conformance" {
			product = "MCP-AQL"
		}
		sum[product] += code[pkg]
	}
	for _, product := range slices.Sorted(maps.Keys(products)) {
		p := products[product]
		t.Logf("%s: %d lines of code, %d allowed, target %d", product, sum[product], p.ceiling, p.target)
		if sum[product] > p.ceiling {
			t.Errorf("%s has %d lines of code, the limit is %d and the target %d: take away as many as the change adds, best where it touches "+
				"(a concept that exists twice, a case that cannot happen, own code that a library has); the limit may only fall", product, sum[product], p.ceiling, p.target)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(methods)) {
		checkType(t, name, methods[name])
	}
}

// checkType fails if a type has too many methods, too many phases, or a phase that is
// too large.
func checkType(t *testing.T, name string, byFile map[string]int) {
	t.Helper()
	larger := largerTypes[name]
	limit, phases, all := max(typeMethods, larger.methods), max(typePhases, larger.files), 0
	for file, n := range byFile {
		all += n
		if n > phaseMethods {
			t.Errorf("type %s has %d methods and functions in %s, the limit for one phase is %d: find the second phase in it and give it a file, or a type of its own", name, n, file, phaseMethods)
		}
	}
	if larger.methods > 0 {
		t.Logf("%-28s %3d methods and functions in %2d files, %d in %d allowed  %s", name, all, len(byFile), limit, phases, larger.reason)
	}
	if all > limit || len(byFile) > phases {
		t.Errorf("type %s has %d methods and functions that take it first, in %d files; the limit is %d in %d. A function is no way out, it counts: "+
			"give a phase that needs only a few of its fields a type of its own with these fields", name, all, len(byFile), limit, phases)
	}
}

// withRoom returns the packages of the same room with the most room.
func withRoom(code map[string]int, pkg string) (out []string) {
	room := func(pkg string) string { return strings.Join(strings.SplitN(pkg+"/", "/", 3)[:2], "/") }
	for other, n := range code {
		if other != pkg && room(other) == room(pkg) && n < packageCode {
			out = append(out, fmt.Sprintf("%s %d", other, packageCode-n))
		}
	}
	slices.SortFunc(out, func(a, b string) int { return code[strings.Fields(a)[0]] - code[strings.Fields(b)[0]] })
	return out[:min(4, len(out))]
}

// addMethods counts methods, and functions whose first parameter is a type of the
// package or a pointer to it, by type and file.
func addMethods(all map[string]map[string]int, f goFile) {
	for _, d := range f.syntax.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		of := fn.Recv
		if of == nil {
			of = fn.Type.Params
		}
		if len(of.List) == 0 {
			continue
		}
		id, ok := receiverType(of.List[0].Type).(*ast.Ident)
		if !ok || types.Universe.Lookup(id.Name) != nil {
			continue
		}
		name := f.pkg + "." + id.Name
		if all[name] == nil {
			all[name] = map[string]int{}
		}
		all[name][f.rel]++
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
