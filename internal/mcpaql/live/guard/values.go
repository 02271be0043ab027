package guard

import "mcptest/internal/mcpaql/live/catalog"

// values are what the parts of a run pass along: what the adapter describes, what the
// run owns, what may be sent, and who sends it.
type values struct {
	Options *Options
	Catalog *catalog.Catalog
	Maker   *catalog.Maker // of values for the parameters in the catalog
	Ledger  *ledger
	Gate    *gate
	Caller  *caller
	Rows    *rows // what the run found
}
