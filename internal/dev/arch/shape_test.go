package arch_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/uudashr/gocognit"
)

// Limits of one function. A longer or more complex one has a reason in exceptions.
const (
	maxLines      = 60
	maxComplexity = 25 // cognitive complexity: github.com/uudashr/gocognit
)

// exceptions are the functions over a limit, by file and name, with the reason.
var exceptions = map[string]string{}

func TestEveryPackageExplainsItself(t *testing.T) {
	t.Parallel()
	files := loadTree(t)
	for _, p := range packages(files) {
		name, atLeast := "doc.go", 80
		if strings.HasPrefix(p, "cmd/") {
			name, atLeast = "main.go", 20 // the command of a single file has its comment there
		}
		i := slices.IndexFunc(files, func(f goFile) bool { return f.pkg == p && f.rel == strings.TrimPrefix(p+"/"+name, "./") })
		switch {
		case i < 0:
			t.Errorf("package %s has no %s", p, name)
		case files[i].syntax.Doc == nil || len(files[i].syntax.Doc.Text()) < atLeast:
			t.Errorf("%s: the package comment must say what the package is for, where to start, and what always holds", files[i].rel)
		}
	}
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	unused := maps.Clone(exceptions)
	for _, f := range loadTree(t) {
		if f.generated || f.test {
			continue
		}
		for _, d := range f.syntax.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			lines := f.fset.Position(fn.End()).Line - f.fset.Position(fn.Pos()).Line + 1
			complexity := gocognit.Complexity(fn)
			if lines <= maxLines && complexity <= maxComplexity {
				continue
			}
			key := f.rel + " " + fn.Name.Name
			if exceptions[key] == "" {
				t.Errorf("%s:%d: func %s has %d lines and the cognitive complexity %d; the limits are %d and %d, unless exceptions has a reason",
					f.rel, f.fset.Position(fn.Pos()).Line, fn.Name.Name, lines, complexity, maxLines, maxComplexity)
			}
			delete(unused, key)
		}
	}
	for key := range unused {
		t.Errorf("%s is below the limits: remove it from exceptions", key)
	}
}

func TestNothingHappensAtImport(t *testing.T) {
	t.Parallel()
	for _, f := range loadTree(t) {
		for _, d := range f.syntax.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				t.Errorf("%s: func init: a package declares what it offers in a table", f.rel)
			}
		}
	}
}

// TestNoPackageState finds package-level variables that code changes: by assignment,
// increment or index, or of a type that is made to be changed. Tables and compiled
// patterns that are set in their declaration are allowed; flags in tests are ignored.
func TestNoPackageState(t *testing.T) {
	t.Parallel()
	byPkg := map[string][]goFile{}
	for _, f := range loadTree(t) {
		if !f.test {
			byPkg[f.pkg] = append(byPkg[f.pkg], f)
		}
	}
	for _, files := range byPkg {
		vars := map[string]bool{}
		for _, f := range files {
			for _, v := range packageVars(f.syntax) {
				for _, n := range v.Names {
					vars[n.Name] = true
					if typ := changeableType(v.Type); typ != "" {
						t.Errorf("%s: package-level %s %s is global state", f.rel, typ, n.Name)
					}
				}
			}
		}
		for _, f := range files {
			for _, d := range f.syntax.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || fn.Body == nil {
					continue
				}
				for _, w := range writes(fn) {
					if vars[w.Name] {
						t.Errorf("%s:%d: func %s changes the package-level variable %s",
							f.rel, f.fset.Position(w.Pos()).Line, fn.Name.Name, w.Name)
					}
				}
			}
		}
	}
}

func packageVars(f *ast.File) []*ast.ValueSpec {
	var out []*ast.ValueSpec
	for _, d := range f.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
			for _, s := range g.Specs {
				out = append(out, s.(*ast.ValueSpec))
			}
		}
	}
	return out
}

// changeableType names types that are made to be changed. A sync.Pool or sync.Once is
// allowed: it contains no data that a reader could observe.
func changeableType(e ast.Expr) string {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	pkg, ok := sel.X.(*ast.Ident)
	if !ok {
		return ""
	}
	name := pkg.Name + "." + sel.Sel.Name
	if name == "sync.Mutex" || name == "sync.RWMutex" || name == "sync.Map" || pkg.Name == "atomic" {
		return name
	}
	return ""
}

// writes returns the identifiers that fn assigns to and does not declare itself, in
// any scope: a name that is both a local and a package-level variable counts as the
// local.
func writes(fn *ast.FuncDecl) []*ast.Ident {
	local := map[string]bool{}
	var found []*ast.Ident
	declare := func(l *ast.FieldList) {
		if l == nil {
			return
		}
		for _, f := range l.List {
			for _, n := range f.Names {
				local[n.Name] = true
			}
		}
	}
	write := func(e ast.Expr) {
		if id := rootIdent(e); id != nil && id.Name != "_" {
			found = append(found, id)
		}
	}
	declare(fn.Recv)
	declare(fn.Type.Params)
	declare(fn.Type.Results)
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			declare(n.Type.Params)
			declare(n.Type.Results)
		case *ast.ValueSpec:
			for _, id := range n.Names {
				local[id.Name] = true
			}
		case *ast.AssignStmt:
			for _, l := range n.Lhs {
				if id, ok := l.(*ast.Ident); ok && n.Tok == token.DEFINE {
					local[id.Name] = true
				} else {
					write(l)
				}
			}
		case *ast.RangeStmt:
			for _, e := range []ast.Expr{n.Key, n.Value} {
				if id, ok := e.(*ast.Ident); ok {
					local[id.Name] = true
				}
			}
		case *ast.IncDecStmt:
			write(n.X)
		}
		return true
	})
	return slices.DeleteFunc(found, func(id *ast.Ident) bool { return local[id.Name] })
}

func rootIdent(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return nil
		}
	}
}

// TestWritesFindsAssignments makes sure that the heuristic above can fail.
func TestWritesFindsAssignments(t *testing.T) {
	t.Parallel()
	const src = `package p
var table = map[string]int{}
var n int
func f(m map[string]int) { table["x"] = 1; n++; m["y"] = 2; q := 3; q++; n := n; _ = n }
func g() { table.x.y = 1; (*table)[0] = 2 }
`
	file, err := parser.ParseFile(token.NewFileSet(), "p.go", src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range file.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			for _, id := range writes(fn) {
				got = append(got, fn.Name.Name+":"+id.Name)
			}
		}
	}
	// n is also a local of f, so f:n counts as the local.
	if want := []string{"f:table", "g:table", "g:table"}; !slices.Equal(got, want) {
		t.Errorf("writes found %v, want %v", got, want)
	}
}
