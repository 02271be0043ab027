package arch_test

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// ratchet is the file of the packages that have arrows which run backward, and how many at
// most. A package that is not in it is straight and stays so.
const ratchet = "testdata/backward.txt"

// An arrow runs from a file to a file of the same package that declares a function,
// method, type, constant or variable which the first one uses.
type arrow struct{ from, to string }

// TestArrowsBetweenFiles prints, for each package, the arrows between its files and how
// many run backward in the order of files that has the fewest such arrows: a package
// with many can only be read as a whole. It fails if there are more than the ratchet says.
func TestArrowsBetweenFiles(t *testing.T) {
	t.Parallel()
	limits := readCounts(t, ratchet)
	now := map[string]int{}
	var all, allBackward int
	for pkg, arrows := range arrowsOfTree(t) {
		against := backward(arrows)
		all, allBackward = all+len(arrows), allBackward+len(against)
		if len(against) > 0 {
			now[pkg] = len(against)
		}
		if testing.Verbose() {
			t.Logf("%-28s %3d arrows, %2d backward  %s", pkg, len(arrows), len(against), strings.Join(against, ", "))
		}
		if len(against) > limits[pkg] {
			t.Errorf("package %s: %d arrows between its files run backward, the limit is %d: %s; move declarations to the files that own them",
				pkg, len(against), limits[pkg], strings.Join(against, ", "))
			now[pkg] = limits[pkg]
		}
	}
	t.Logf("all packages: %d arrows, %d backward (%.1f %%)", all, allBackward, 100*float64(allBackward)/float64(all))
	checkFallen(t, ratchet, limits, now)
}

// arrowsOfTree returns the arrows between the files of each package that has some.
func arrowsOfTree(t *testing.T) map[string][]arrow {
	t.Helper()
	linux := build.Default
	linux.GOOS, linux.GOARCH = "linux", "amd64" // files of other systems declare the same names
	root := repoRoot(t)
	byPackage := map[string][]*ast.File{}
	var fset *token.FileSet
	for _, f := range loadTree(t) {
		ok, err := linux.MatchFile(filepath.Join(root, f.pkg), filepath.Base(f.rel))
		if err != nil {
			t.Fatal(err)
		}
		if ok && !f.test {
			byPackage[f.pkg], fset = append(byPackage[f.pkg], f.syntax), f.fset
		}
	}
	out := map[string][]arrow{}
	for pkg, files := range byPackage {
		if arrows := arrowsBetween(fset, files); len(arrows) > 0 {
			out[pkg] = arrows
		}
	}
	return out
}

// TestArrowsAreFound keeps the measure honest: a method and a constant make an arrow,
// a local variable of the same name does not, and a circle has one arrow backward.
func TestArrowsAreFound(t *testing.T) {
	t.Parallel()
	fset := token.NewFileSet()
	var syntax []*ast.File
	for name, src := range map[string]string{
		"a.go": "package p\nfunc top(x *low) { x.fall(); depth := 2; _ = depth }",
		"b.go": "package p\nconst depth = 1\nfunc middle(x low) { top(&x) }",
		"c.go": "package p\ntype low struct{}\nfunc (*low) fall() { middle(low{}) }",
	} {
		f, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		syntax = append(syntax, f)
	}
	arrows := arrowsBetween(fset, syntax)
	want := []arrow{{"a.go", "c.go"}, {"b.go", "a.go"}, {"b.go", "c.go"}, {"c.go", "b.go"}}
	if !slices.Equal(arrows, want) {
		t.Errorf("arrows are %v, want %v", arrows, want)
	}
	if against := backward(arrows); !slices.Equal(against, []string{"c.go to b.go"}) {
		t.Errorf("backward are %v, want c.go to b.go", against)
	}
}

// arrowsBetween resolves the names of a package without its imports: only the result of
// a foreign generic function stays unknown.
func arrowsBetween(fset *token.FileSet, files []*ast.File) []arrow {
	uses := map[*ast.Ident]types.Object{}
	config := types.Config{Error: func(error) {}}
	pkg, _ := config.Check("p", fset, files, &types.Info{Uses: uses})
	seen := map[arrow]bool{}
	for id, object := range uses {
		function, _ := object.(*types.Func) // a method is in no scope
		if object.Pkg() == pkg && (function != nil || object.Parent() == pkg.Scope()) {
			a := arrow{filepath.Base(fset.Position(id.Pos()).Filename), filepath.Base(fset.Position(object.Pos()).Filename)}
			seen[a] = seen[a] || a.from != a.to
		}
	}
	maps.DeleteFunc(seen, func(_ arrow, between bool) bool { return !between })
	return slices.SortedFunc(maps.Keys(seen), func(a, b arrow) int {
		return strings.Compare(a.from+" "+a.to, b.from+" "+b.to)
	})
}

// backward lists the arrows against the best order of the files that a local search
// finds: from several shuffled orders, each file moves to its best place until none gains.
func backward(arrows []arrow) (fewest []string) {
	uses := map[arrow]int{}
	var order []string
	for _, a := range arrows {
		uses[a] = 1
		order = append(order, a.from, a.to)
	}
	slices.Sort(order)
	order = slices.Compact(order)
	random := rand.New(rand.NewPCG(1, 2)) // the same orders in every run
	for try := range 20 {
		for i := 0; i < len(order); i++ {
			if to := bestPlace(order, i, uses); to != i {
				file := order[i]
				order = slices.Insert(slices.Delete(order, i, i+1), to, file)
				i = -1 // until no file gains
			}
		}
		var against []string
		for _, a := range arrows {
			if slices.Index(order, a.from) > slices.Index(order, a.to) {
				against = append(against, a.from+" to "+a.to)
			}
		}
		if try == 0 || len(against) < len(fewest) {
			fewest = against
		}
		random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	return fewest
}

// bestPlace is where the file at i has the fewest arrows against the order.
func bestPlace(order []string, i int, uses map[arrow]int) int {
	best, place := 0, i
	for _, step := range []int{1, -1} {
		change := 0
		for j := i + step; j >= 0 && j < len(order); j += step {
			change += step * (uses[arrow{order[i], order[j]}] - uses[arrow{order[j], order[i]}])
			if change < best {
				best, place = change, j
			}
		}
	}
	return place
}
