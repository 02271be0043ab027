package live

import (
	"context"
	"slices"
	"strings"

	"mcptest/internal/base/lists"
	"mcptest/internal/mcpaql/live/catalog"
	"mcptest/internal/mcpaql/live/guard"
	"mcptest/internal/mcpaql/reference"
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
	c.Caller.Cleaning = true
	runs := lists.Map(left, func(l Left) string { return l.RunID })
	var out Cleaned
	for _, create := range c.Catalog.Operations {
		remove := c.Gate.FindRemover(create)
		if create.Category != "CREATE" || create.Verb != "create" || remove == nil {
			continue
		}
		x := cleaning{run: c, create: create, remove: remove, out: &out}
		for _, t := range c.Lister.FindMarked(create, runs) {
			x.drop(t)
		}
		for _, l := range left {
			x.dropNamed(l, runs)
		}
	}
	return out, nil
}

// cleaning removes what earlier runs created with one operation.
type cleaning struct {
	run            *guard.Run
	create, remove *catalog.Operation
	seen           []guard.CreatedThing
	out            *Cleaned
}

// drop removes an item, once.
func (x *cleaning) drop(t guard.CreatedThing) {
	if slices.ContainsFunc(x.seen, t.Equal) {
		return
	}
	x.seen = append(x.seen, t)
	ledger := x.run.Ledger
	before := len(ledger.Leftovers)
	ledger.Add(x.create.Resource, t)
	x.run.Cleaner.RemoveOne(x.run.Caller.Ctx, x.create, x.remove, t)
	if len(ledger.Leftovers) > before {
		x.out.Failed = append(x.out.Failed, x.formatThing(t)+": "+ledger.Leftovers[before].Lookup("reason").Text())
	} else {
		x.out.Removed = append(x.out.Removed, x.formatThing(t))
	}
}

func (x *cleaning) formatThing(t guard.CreatedThing) string {
	return strings.TrimSpace(x.remove.Name + " " + reference.FormatText(t.ID))
}

// dropNamed removes the items that the journal of a run names, if they carry the mark of one
// of the runs.
func (x *cleaning) dropNamed(l Left, runs []string) {
	for _, id := range l.IDs {
		t := guard.CreatedThing{ID: id.ID, With: id.With}
		if id.Created != x.create.Name || id.ID.IsAbsent() || slices.ContainsFunc(x.seen, t.Equal) {
			continue
		}
		ours, gone := x.run.Lister.DetermineFate(x.create, t, runs)
		switch {
		case ours:
			x.drop(t)
		case !gone:
			x.out.Failed = append(x.out.Failed, x.formatThing(t)+": it does not carry the mark of a run, so it is left alone")
		}
	}
}
