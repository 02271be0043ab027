package guard

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/mcpaql/live/catalog"
	"mcptest/internal/mcpaql/live/tape"
)

// caller sends calls to the adapter and keeps the transcript. Every call passes the
// gate and the budgets here.
type caller struct {
	options    *Options
	catalog    *catalog.Catalog
	ledger     *ledger
	gate       *gate
	rows       *rows
	settle     func() // called before a call that may change something
	verify     func() // called after a restart of the adapter
	Ctx        context.Context
	Tape       *tape.Tape
	Session    *tape.Session
	Calls      int             // tools/call requests sent
	timeouts   int             // consecutive
	silent     map[string]int  // operation → calls without an answer
	waited     time.Duration   // for an adapter that limits the rate
	Sensitive  map[string]bool // namesOwnThing of parameters that are never stored
	Restarts   int
	Dead       string // why nothing more is sent
	last       time.Time
	Transcript []jsonv.Value
	kept       int               // bytes of the transcript
	Ungated    bool              // the user chose the call
	Cleaning   bool              // calls do not count against the budget, and nothing is created
	exhausted  bool              // a call was not sent because of MaxCalls
	Short      map[string]string // row → why the run had no time for all of it
	Gated      bool              // an operation asked for a confirmation
	TokenKey   string            // the parameter that carries a token
	dates      *dateLog
	GivenSent  map[[2]string]bool // values of the user that were sent, by operation and parameter
}

// ExplainEnding returns why a run ended early, "" when it did not.
func (a *caller) ExplainEnding() string {
	switch {
	case a.Dead != "":
		return a.Dead
	case a.Ctx.Err() != nil:
		if _, ok := errors.AsType[*mcp.Limit](context.Cause(a.Ctx)); ok {
			return "the run's time is over (--budget " + a.options.Budget.String() + ")"
		}
		return "the run was ended early"
	case a.exhausted:
		return "the run reached the limit of calls (--max-calls " + strconv.Itoa(a.options.MaxCalls) + ")"
	}
	return ""
}

// ExplainUntested returns the reason why something was not tested.
func (a *caller) ExplainUntested() string {
	return cmp.Or(a.ExplainEnding(), "the run ended before")
}

// CutShort records that the run ended before it had tested everything that the rows
// need. Their missing cases are then not the adapter's fault.
func (a *caller) CutShort(tests ...string) {
	for _, id := range tests {
		a.Short[id] = cmp.Or(a.Short[id], a.ExplainUntested())
	}
}
