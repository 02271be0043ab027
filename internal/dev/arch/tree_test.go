package arch_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// module is the path in go.mod, the prefix of all packages.
const module = "mcptest"

// A goFile is one Go file of the module, of any operating system.
type goFile struct {
	rel       string // slash path from the root, "internal/client/mcp/frame.go"
	pkg       string // slash path of its folder, "internal/client/mcp"; "." is the root
	lines     int
	syntax    *ast.File
	fset      *token.FileSet
	imports   []string
	test      bool // name ends in _test.go
	external  bool // package clause ends in _test
	generated bool
}

// repoRoot finds the folder that holds go.mod, from the test's working
// directory upwards.
func repoRoot(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the test's folder")
		}
		dir = up
	}
}

// loadTree returns every Go file of the module, for reading only: all tests share one
// parsed tree, because parsing takes longer than what they do with it.
func loadTree(t *testing.T) []goFile {
	t.Helper()
	files, err := parseOnce(repoRoot(t))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

var (
	parsing     sync.Once
	parsed      []goFile
	errOfParser error
)

func parseOnce(root string) ([]goFile, error) {
	parsing.Do(func() { parsed, errOfParser = parseTree(root) })
	return parsed, errOfParser
}

// parseTree parses every Go file of the module. Folders that the go command
// ignores (testdata, names with a leading dot or underscore), installed npm
// packages and nested modules (tools) are left out.
func parseTree(root string) ([]goFile, error) {
	fset := token.NewFileSet()
	var files []goFile
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if rel != "." && skipFolder(p, d.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(rel, ".go") {
			return nil
		}
		f, err := parseFile(fset, p, rel)
		if err != nil {
			return err
		}
		files = append(files, f)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(files) < 10 {
		return nil, fmt.Errorf("found only %d Go files under %s: the walk is broken", len(files), root)
	}
	return files, nil
}

func skipFolder(p, name string) bool {
	if name == "testdata" || name == "node_modules" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
		return true
	}
	_, err := os.Stat(filepath.Join(p, "go.mod"))
	return err == nil
}

func parseFile(fset *token.FileSet, p, rel string) (goFile, error) {
	data, err := os.ReadFile(p)
	if err != nil {
		return goFile{}, err
	}
	syntax, err := parser.ParseFile(fset, p, data, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return goFile{}, err
	}
	f := goFile{
		rel:       rel,
		pkg:       path.Dir(rel),
		lines:     strings.Count(string(data), "\n"),
		syntax:    syntax,
		fset:      fset,
		test:      strings.HasSuffix(rel, "_test.go"),
		external:  strings.HasSuffix(syntax.Name.Name, "_test"),
		generated: ast.IsGenerated(syntax),
	}
	for _, s := range syntax.Imports {
		ip, err := strconv.Unquote(s.Path.Value)
		if err != nil {
			return goFile{}, err
		}
		f.imports = append(f.imports, ip)
	}
	return f, nil
}

// packages lists the folders that hold non-test Go files, sorted.
func packages(files []goFile) []string {
	seen := map[string]bool{}
	for _, f := range files {
		seen[f.pkg] = true
	}
	var out []string
	for p := range seen {
		out = append(out, p)
	}
	sort.Strings(out)
	return out
}

// ours converts an import path of this module into a folder ("internal/client/mcp"), or
// returns false for other paths.
func ours(importPath string) (string, bool) {
	if importPath == module {
		return ".", true
	}
	return strings.CutPrefix(importPath, module+"/")
}
