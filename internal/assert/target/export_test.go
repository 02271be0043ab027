package target

import "mcptest/internal/assert/jsonpath"

// Canonical returns the target with every segment in its shortest form.
func (t *Target) Canonical() string { return t.root.Name + jsonpath.String(t.steps) }
