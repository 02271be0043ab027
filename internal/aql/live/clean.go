package live

import (
	"context"
	"slices"
	"strings"

	"mcptest/internal/aql/evidence"
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

// fate says what became of what a journal names: an adapter may have given the
// identifier to something else since. gone is true where an answer says that
// there is no such thing any more, so that nothing has to be removed.
func (l *lister) fate(create *liveOp, t createdThing, runs []string) (ours, gone bool) {
	get := l.run.catalog.partner("get", "READ", create.resource)
	if get != nil && get.idParam() != nil && l.run.gate.barred(get) == "" {
		r := l.run.caller.call(get, t.naming(get, l.run.builder.fresh(get)))
		return r.ok() && (carries(r.data(), runs) || carries(t.id, runs)), strings.HasPrefix(r.code(), "NOT_FOUND")
	}
	item, whole := l.listed(create, t)
	return carries(item, runs), whole && item.IsAbsent()
}

// listed finds a thing in its resource's list, absent when it is not there.
// whole says that all of the list was read.
func (l *lister) listed(create *liveOp, t createdThing) (found jsonv.Value, whole bool) {
	remove := l.run.gate.remover(create)
	whole = l.everyPage(create, remove, maxPages, func(_ jsonv.Value, r reply) {
		for _, item := range items(r.data(), listDepth) {
			if remove != nil && jsonv.Equal(l.itemID(create, remove, item), t.id) {
				found = item
			}
		}
	})
	return found, whole
}

func (l *lister) itemID(create, remove *liveOp, item jsonv.Value) jsonv.Value {
	for _, key := range []string{l.run.catalog.idKey(remove), "id", create.resource + "_id"} {
		if v, ok := item.Get(key); ok {
			return v
		}
	}
	return jsonv.Value{}
}

// marked reads a resource's list, of every kind and page by page, and returns
// what carries the marker of one of the runs.
func (l *lister) marked(create *liveOp, runs []string) (found []createdThing) {
	remove := l.run.gate.remover(create)
	if remove == nil {
		return nil
	}
	if l.run.catalog.atMostOne(create) {
		if r := l.run.caller.call(l.run.catalog.exact("get", "READ", create.resource), jsonv.Object()); r.ok() && carries(r.data(), runs) {
			found = append(found, createdThing{})
		}
		return found
	}
	l.everyPage(create, remove, maxPages, func(kind jsonv.Value, r reply) {
		for _, item := range items(r.data(), listDepth) {
			if !carries(item, runs) {
				continue
			}
			with := kind
			for name := range kind.Members() {
				if v, ok := item.Get(name); ok {
					with = with.With(name, v)
				}
			}
			found = append(found, createdThing{l.itemID(create, remove, item), with})
		}
	})
	return found
}

// mine is this run, as the one that left something.
func (mk *maker) mine() []string { return []string{mk.o.RunID} }

// carries says that a text begins with the mark of a run. Case and separators
// do not count: patterns of names allow few of them, and adapters change both.
func carries(item jsonv.Value, runs []string) bool {
	plain := strings.NewReplacer("_", "", "-", "", " ", "")
	hit := false
	evidence.EveryText(item, func(s string) {
		for _, run := range runs {
			mark := plain.Replace(Marker(run))
			begin := plain.Replace(s[:min(len(s), 2*len(mark))])
			hit = hit || run != "" && len(begin) >= len(mark) && strings.EqualFold(begin[:len(mark)], mark)
		}
	})
	return hit
}
