package engine

import "mcptest/internal/base/jsonv"

// Schema is a compiled schema.
type Schema struct {
	root       *node
	backtracks bool // some pattern may take exponential time
}

// Draft returns the draft of the schema.
func (s *Schema) Draft() Draft { return s.root.resource.dialect.draft }

// Compile prepares a schema. The error is an *Error.
func Compile(doc jsonv.Value, o Options) (*Schema, error) {
	c := newCompiler(o)
	c.metaOf = metaOf
	c.loaded[o.BaseURI] = doc
	root, err := c.compile(o.BaseURI)
	if err != nil {
		return nil, err
	}
	return &Schema{root: root, backtracks: c.patterns.backtracks}, nil
}
