package arch_test

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

const (
	maxColumns = 120
	tabColumns = 4
	// longLiteral is the length from which a text on a line is a reason to exceed the limit.
	longLiteral = 60
	// wide is the file of the files with longer lines, and how many. Other files have none.
	wide = "testdata/wide.txt"
)

// TestColumns fails for lines of code and of templates that are too long to read. Tests,
// tables (declarations outside of functions) and long literals are exempt. Files that are
// older than the limit may have as many such lines as wide says.
func TestColumns(t *testing.T) {
	t.Parallel()
	found := map[string][]int{}
	root := repoRoot(t)
	for _, f := range loadTree(t) {
		if !f.test && !f.generated {
			found[f.rel] = wideLines(readLines(t, filepath.Join(root, f.rel)), exemptLines(f))
		}
	}
	for _, name := range committed(t, root) {
		if strings.HasSuffix(name, ".qtpl") {
			found[name] = wideLines(readLines(t, filepath.Join(root, name)), nil)
		}
	}
	limits, now := readCounts(t, wide), map[string]int{}
	for name, lines := range found {
		now[name] = len(lines)
		if len(lines) > limits[name] {
			t.Errorf("%s: %d lines have more than %d columns, the limit is %d: line %d", name, len(lines), maxColumns, limits[name], lines[len(lines)-1])
			now[name] = limits[name]
		}
	}
	checkFallen(t, wide, limits, now)
}

func readLines(t *testing.T, name string) []string {
	t.Helper()
	data, err := os.ReadFile(name)
	if os.IsNotExist(err) {
		return nil // removed, and not yet committed
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(data), "\n")
}

// wideLines returns the numbers of the lines over the limit.
func wideLines(lines []string, exempt map[int]bool) (numbers []int) {
	for i, line := range lines {
		columns := utf8.RuneCountInString(line) + (tabColumns-1)*strings.Count(line, "\t")
		if columns > maxColumns && !exempt[i+1] {
			numbers = append(numbers, i+1)
		}
	}
	return numbers
}

// exemptLines returns the lines of tables and of long literals.
func exemptLines(f goFile) map[int]bool {
	exempt := map[int]bool{}
	add := func(from, to token.Pos) {
		for n := f.fset.Position(from).Line; n <= f.fset.Position(to).Line; n++ {
			exempt[n] = true
		}
	}
	for _, d := range f.syntax.Decls {
		if table, ok := d.(*ast.GenDecl); ok && table.Tok != token.IMPORT {
			add(table.Pos(), table.End())
		}
	}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && len(literal.Value) >= longLiteral {
			add(literal.Pos(), literal.End())
		}
		return true
	})
	return exempt
}
