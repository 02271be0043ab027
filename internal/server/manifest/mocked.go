package manifest

import "mcptest/internal/base/source"

// Mocked compiles responses of tools, by name, as a manifest that serves nothing else.
func Mocked(n *source.Node, path string, d *source.Decoder) *Manifest {
	m := &Manifest{}
	for _, f := range n.Fields {
		c := compiler{d: d, roots: toolRoots}
		m.Tools = append(m.Tools, &Tool{
			Name:     f.Key.Text,
			Response: c.compileResponse(f.Value, source.PathKey(path, f.Key.Text), 0),
		})
	}
	return m
}
