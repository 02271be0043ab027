package expect

import (
	"mcptest/internal/assert/jsonpath"
	"mcptest/internal/assert/textdiff"
	"mcptest/internal/base/source"
)

// Canonical returns the target with every segment in its shortest form.
func (t *Target) Canonical() string { return t.root.Name + jsonpath.String(t.steps) }

// CompileThreshold compiles a number from 0 to 1, nil for none.
func CompileThreshold(n *source.Node, path string, d *source.Decoder) *float64 {
	if n == nil {
		return nil
	}
	if t, ok := newCompiler(Compiler{}, d).share(n, path); ok {
		return &t
	}
	return nil
}

// EditDistance exposes the banded distance to the tests.
var EditDistance = editDistance

// FoldCase exposes case folding to the tests.
var FoldCase = textdiff.FoldCase
