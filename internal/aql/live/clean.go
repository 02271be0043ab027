package live

import (
	"context"
	"slices"
	"strings"

	"mcptest/internal/aql/reference"
	"mcptest/internal/jsonv"
)

// Left is what a run created and is not known to have removed.
type Left struct {
	RunID string
	IDs   []LeftID
}

// LeftID names one thing by the parameter that deletes it.
type LeftID struct {
	Operation string      // that created it
	ID        jsonv.Value // absent for a resource that there is at most one of
	With      jsonv.Value // what else names it, an object
}

// Cleaned is what became of a clean-up.
type Cleaned struct {
	Removed []string // "delete_book book_4"
	Failed  []string // with the reason
}

// Clean removes what earlier runs left behind: what carries their
// marker in one of its texts, found through the adapter's list operations,
// and what their journals name. Nothing else is touched.
func Clean(ctx context.Context, o Options, left []Left) (Cleaned, error) {
	o.Mode = ModeWrite
	c, end, err := open(ctx, o)
	if err != nil {
		return Cleaned{}, err
	}
	defer end()
	c.cleaner.cleaning = true
	var runs []string
	for _, l := range left {
		runs = append(runs, l.RunID)
	}
	var out Cleaned
	for _, create := range c.catalog.ops {
		remove := c.gate.remover(create)
		if create.category != "CREATE" || create.verb != "create" || remove == nil {
			continue
		}
		var seen []createdThing
		drop := func(t createdThing) {
			if slices.ContainsFunc(seen, t.equal) {
				return
			}
			seen = append(seen, t)
			before := len(c.cleaner.leftovers)
			c.keeper.ledger.add(create.resource, t)
			c.cleaner.removeOne(c.caller.ctx, create, remove, t)
			name := strings.TrimSpace(remove.name + " " + reference.Text(t.id))
			if len(c.cleaner.leftovers) > before {
				out.Failed = append(out.Failed, name+": "+c.cleaner.leftovers[before].Lookup("reason").Text())
			} else {
				out.Removed = append(out.Removed, name)
			}
		}
		for _, t := range c.lister.marked(create, runs) {
			drop(t)
		}
		for _, l := range left {
			for _, id := range l.IDs {
				if id.Operation != create.name || id.ID.IsAbsent() {
					continue
				}
				t := createdThing{id.ID, id.With}
				if slices.ContainsFunc(seen, t.equal) {
					continue
				}
				switch ours, gone := c.lister.fate(create, t, runs); {
				case ours:
					drop(t)
				case !gone:
					out.Failed = append(out.Failed, strings.TrimSpace(remove.name+" "+reference.Text(t.id))+": it does not carry the mark of a run, so it is left alone")
				}
			}
		}
	}
	return out, nil
}
