package probe

import (
	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/live/guard"
	"mcptest/internal/mcpaql/reference"
)

// nothingUpdated is the reason why no append-only field was tested.
const nothingUpdated = "nothing could be created and updated"

// cycleProbe creates, reads, updates and deletes one resource of each kind.
type cycleProbe struct{ run *guard.Run }

// readBack reads the item, by its own operation or from the page of the list that
// contains it.
func (pr cycleProbe) readBack(y *guard.Cycle) guard.Reply {
	if y.Get != nil {
		return pr.run.Caller.Call(y.Get, pr.run.Lister.BuildNaming(y.Get, y.Thing))
	}
	var last guard.Reply
	pr.run.Lister.VisitPages(y.List, pr.run.Lister.BuildNaming(y.List, y.Thing), func(r guard.Reply) bool {
		last = r
		_, thing := y.Place(r)
		return thing.IsAbsent()
	})
	return last
}

// readAfter reads the item after a change, again if it does not show the change yet.
func (pr cycleProbe) readAfter(y *guard.Cycle, shows func(r guard.Reply) bool) guard.Reply {
	r := pr.readBack(y)
	if r.WasHeard() && !shows(r) {
		pr.run.Steady.Await(func() bool {
			r = pr.readBack(y)
			return shows(r)
		})
	}
	return r
}

// expectStored returns the expectation that an answer has a value. Where the masked answer
// has a mask instead of that value, so has the expectation: the evidence is judged
// before it is masked.
func expectStored(r guard.Reply, masked jsonv.Value, path string, v jsonv.Value) evidence.Field {
	if shown := reference.Walk(masked, path); !shown.IsAbsent() && jsonv.Equal(reference.Walk(r.Envelope, path), v) {
		v = shown
	}
	return evidence.Field{Path: path, Value: v}
}

// The fields that an update may and may not touch.

var bookkeeping = evidence.Pattern(`(?i)^(updated|modified|last_|version|etag|revision)`)

// sendUpdate sends an update with some input, in the documented form.
func (pr cycleProbe) sendUpdate(y *guard.Cycle, input jsonv.Value) guard.Reply {
	params := y.Thing.AddNaming(y.Update, jsonv.Object())
	if y.Update.FindParam("input") != nil {
		return pr.run.Keeper.Attempt(y.Update, params.With("input", input))
	}
	return pr.run.Keeper.Attempt(y.Update, evidence.Merge(params, input))
}
