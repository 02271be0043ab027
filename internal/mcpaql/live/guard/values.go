package guard

import (
	"mcptest/internal/mcpaql/live/catalog"
	"mcptest/internal/mcpaql/live/change"
	"mcptest/internal/mcpaql/live/tape"
)

// newValues returns what all parts of a run use.
func newValues(o Options) values {
	v := values{
		Options: &o,
		Catalog: &catalog.Catalog{Types: map[string]*catalog.NamedType{}},
		Rows:    newRows(),
	}
	v.Ledger = &ledger{deleting: map[string]bool{}, stays: map[string]string{}}
	v.Maker = catalog.NewMaker(o.Values, o.RunID, v.Catalog)
	v.Gate = &gate{
		options: v.Options,
		catalog: v.Catalog,
		maker:   v.Maker,
		ledger:  v.Ledger,
		Census:  &change.Census{},
		Poison:  map[string]string{},
		Skipped: map[string]string{},
	}
	v.Caller = &caller{
		options:   v.Options,
		catalog:   v.Catalog,
		ledger:    v.Ledger,
		gate:      v.Gate,
		rows:      v.Rows,
		Sensitive: map[string]bool{},
		silent:    map[string]int{},
		GivenSent: map[[2]string]bool{},
		Short:     map[string]string{},
		dates:     &dateLog{fields: map[string]*dateField{}, sent: map[string]bool{}},
	}
	v.Caller.Tape = tape.New(tape.Options{
		Dial:    o.Dial,
		Record:  o.Record,
		Replay:  o.Replay,
		Program: o.Program,
		Secrets: o.Secrets,
		Values:  o.Values,
	})
	return v
}

// values are what the parts of a run pass along: what the adapter describes, what the
// run owns, what may be sent, and who sends it.
type values struct {
	Options *Options
	Catalog *catalog.Catalog
	Maker   *catalog.Maker // isOneOf values for the parameters in the catalog
	Ledger  *ledger
	Gate    *gate
	Caller  *caller
	Rows    *rows // what the run found
}
