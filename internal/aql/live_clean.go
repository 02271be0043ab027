package aql

import (
	"context"
	"slices"
	"strings"

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

// CleanLive removes what earlier runs left behind: what carries their
// marker in one of its texts, found through the adapter's list operations,
// and what their journals name. Nothing else is touched.
func CleanLive(ctx context.Context, o LiveOptions, left []Left) (Cleaned, error) {
	o.Mode = ModeWrite
	c, end, err := open(ctx, o)
	if err != nil {
		return Cleaned{}, err
	}
	defer end()
	c.cleaning = true
	var out Cleaned
	for _, create := range c.ops {
		remove := c.remover(create)
		if create.category != "CREATE" || create.verb != "create" || remove == nil {
			continue
		}
		var seen []createdThing
		drop := func(t createdThing) {
			if slices.ContainsFunc(seen, t.equal) {
				return
			}
			seen = append(seen, t)
			before := len(c.leftovers)
			c.removeOne(c.ctx, create, remove, t)
			name := strings.TrimSpace(remove.name + " " + text(t.id))
			if len(c.leftovers) > before {
				out.Failed = append(out.Failed, name+": "+c.leftovers[before].Lookup("reason").Text())
			} else {
				out.Removed = append(out.Removed, name)
			}
		}
		for _, t := range c.marked(create, left) {
			drop(t)
		}
		for _, l := range left {
			for _, id := range l.IDs {
				if id.Operation != create.name || id.ID.IsAbsent() {
					continue
				}
				t := createdThing{id.ID, id.With}
				if c.stillMarked(create, t, left) {
					drop(t)
				} else if !slices.ContainsFunc(seen, t.equal) {
					out.Failed = append(out.Failed, strings.TrimSpace(remove.name+" "+text(t.id))+": it does not carry the mark of a run, so it is left alone")
				}
			}
		}
	}
	return out, nil
}

// stillMarked says that what a journal names is still what the run made: an
// adapter may have given the identifier to something else since. What cannot
// be read is only removed when its identifier is marked, or it is gone.
func (c *collector) stillMarked(create *liveOp, t createdThing, left []Left) bool {
	if carries(t.id, left) {
		return true
	}
	get := c.partner("get", "READ", create.resource)
	if get == nil || get.idParam() == nil || c.barred(get) != "" {
		return false
	}
	r := c.call(get, t.naming(get, c.fresh(get)))
	return r.ok() && carries(r.data(), left) || strings.HasPrefix(r.code(), "NOT_FOUND")
}

func (c *collector) itemID(create, remove *liveOp, item jsonv.Value) jsonv.Value {
	for _, key := range []string{c.idKey(remove), "id", create.resource + "_id"} {
		if v, ok := item.Get(key); ok {
			return v
		}
	}
	return jsonv.Value{}
}

// marked reads a resource's list, of every kind and page by page, and returns
// what carries the marker of one of the runs.
func (c *collector) marked(create *liveOp, left []Left) (found []createdThing) {
	remove := c.remover(create)
	if remove == nil {
		return nil
	}
	if c.atMostOne(create) {
		if r := c.call(c.exact("get", "READ", create.resource), jsonv.Object()); r.ok() && carries(r.data(), left) {
			found = append(found, createdThing{})
		}
		return found
	}
	c.everyPage(create, remove, maxPages, func(kind jsonv.Value, r reply) {
		for _, item := range items(r.data(), listDepth) {
			if !carries(item, left) {
				continue
			}
			with := kind
			for name := range kind.Members() {
				if v, ok := item.Get(name); ok {
					with = with.With(name, v)
				}
			}
			found = append(found, createdThing{c.itemID(create, remove, item), with})
		}
	})
	return found
}

func carries(item jsonv.Value, left []Left) bool {
	hit := false
	everyText(item, func(s string) {
		for _, l := range left {
			mark := Marker(l.RunID)
			hit = hit || l.RunID != "" && len(s) >= len(mark) && strings.EqualFold(s[:len(mark)], mark) // an adapter may change the case
		}
	})
	return hit
}
