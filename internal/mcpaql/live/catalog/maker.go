package catalog

import (
	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
)

// Maker generates values for parameters from the catalog and the user's values.
type Maker struct {
	values  jsonv.Value // the user's values: operation → parameter → value
	runID   string
	catalog *Catalog
	keys    int // values made for parameters that onceKey matches
}

// onceKey matches the names of parameters by which an adapter recognizes a repeated
// call: each call gets a value of its own.
var onceKey = evidence.Pattern(`(?i)^(idempotency|deduplication|client_request)_?(key|id|token)$`)

// NewMaker returns a Maker of values for the parameters of a catalog. The user's
// values take precedence; runID marks the items that the run creates.
func NewMaker(values jsonv.Value, runID string, c *Catalog) *Maker {
	return &Maker{values: values, runID: runID, catalog: c}
}
