package catalog

import (
	"cmp"

	"mcptest/internal/base/lists"
	"mcptest/internal/mcpaql/evidence"
)

// Catalog is the adapter's description: its tools, operations and types.
type Catalog struct {
	Tools      []Tool
	Families   map[string]string // category → tool
	Single     string
	Reader     string // the tool for introspection
	Operations []*Operation
	Types      map[string]*NamedType
}

// FindTool returns a tool by its name, without one if it is not listed.
func (cat *Catalog) FindTool(name string) Tool {
	return lists.First(cat.Tools, func(t Tool) bool { return t.Name == name })
}

// Route chooses the tool that an operation is called with.
func (cat *Catalog) Route(op *Operation) {
	named := cat.FindTool(op.Detail.Lookup("mcpTool").Text()).Name
	op.Tool = cmp.Or(cat.Families[op.Category], named, cat.Families[op.Endpoint], cat.Single, cat.Reader)
}

// FindOperation returns an operation by its name; nil if it is not listed.
func (cat *Catalog) FindOperation(name string) *Operation {
	return cat.FindFirst(func(op *Operation) bool { return op.Name == name })
}

// ToolName matches the names of MCP-AQL tools, and the spelling mcpaql of some
// adapters: prefix and endpoint are its groups.
var ToolName = evidence.Pattern(`^([a-z0-9_]+_)?mcp_?aql(?:_([a-z0-9]+))?$`)

// FindFirst returns the first operation that match accepts; nil if there is none.
func (cat *Catalog) FindFirst(match func(*Operation) bool) *Operation {
	return lists.First(cat.Operations, match)
}
