package expect

import "mcptest/internal/base/source"

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
