package live

import (
	"context"
	"slices"
	"strings"

	"mcptest/internal/aql/live/guard"
	"mcptest/internal/aql/reference"
)

// Left lists what a run created and has not verifiably removed.
type Left struct {
	RunID string
	IDs   []guard.JournalEntry // with Created
}

// Cleaned is the result of a clean-up.
type Cleaned struct {
	Removed []string // "delete_book book_4"
	Failed  []string // with the reason
}

// Clean removes what earlier runs left behind: items that carry their marker in one
// of their texts, found through the adapter's list operations, and items that their
// journals name. Nothing else is touched.
func Clean(ctx context.Context, o guard.Options, left []Left) (Cleaned, error) {
	o.Mode = guard.ModeWrite
	c, end, err := open(ctx, o)
	if err != nil {
		return Cleaned{}, err
	}
	defer end()
	c.Cleaner.Cleaning = true
	var runs []string
	for _, l := range left {
		runs = append(runs, l.RunID)
	}
	var out Cleaned
	for _, create := range c.Catalog.Operations {
		remove := c.Gate.Remover(create)
		if create.Category != "CREATE" || create.Verb != "create" || remove == nil {
			continue
		}
		var seen []guard.CreatedThing
		drop := func(t guard.CreatedThing) {
			if slices.ContainsFunc(seen, t.Equal) {
				return
			}
			seen = append(seen, t)
			before := len(c.Cleaner.Leftovers)
			c.Keeper.Ledger.Add(create.Resource, t)
			c.Cleaner.RemoveOne(c.Caller.Ctx, create, remove, t)
			name := strings.TrimSpace(remove.Name + " " + reference.Text(t.Id))
			if len(c.Cleaner.Leftovers) > before {
				out.Failed = append(out.Failed, name+": "+c.Cleaner.Leftovers[before].Lookup("reason").Text())
			} else {
				out.Removed = append(out.Removed, name)
			}
		}
		for _, t := range c.Lister.Marked(create, runs) {
			drop(t)
		}
		for _, l := range left {
			for _, id := range l.IDs {
				if id.Created != create.Name || id.ID.IsAbsent() {
					continue
				}
				t := guard.CreatedThing{Id: id.ID, With: id.With}
				if slices.ContainsFunc(seen, t.Equal) {
					continue
				}
				switch ours, gone := c.Lister.Fate(create, t, runs); {
				case ours:
					drop(t)
				case !gone:
					out.Failed = append(out.Failed, strings.TrimSpace(remove.Name+" "+reference.Text(t.Id))+": it does not carry the mark of a run, so it is left alone")
				}
			}
		}
	}
	return out, nil
}
