package aql

import (
	"context"
	"strings"
	"time"

	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
)

// open starts a collector that has looked at tools and introspection.
func open(ctx context.Context, o LiveOptions) (*collector, func(), error) {
	c := newCollector(o)
	var cancel context.CancelFunc
	c.ctx, cancel = mcp.WithLimit(ctx, "--budget", c.o.Budget)
	var err error
	if c.s, err = c.o.Dial(c.ctx, ""); err != nil {
		cancel()
		return nil, nil, &NoAdapterError{Reason: "the adapter cannot be reached", Err: err}
	}
	if err := c.discover(); err != nil {
		c.s.Close(context.WithoutCancel(ctx))
		cancel()
		return nil, nil, err
	}
	return c, func() {
		c.s.Close(context.WithoutCancel(ctx))
		cancel()
	}, nil
}

// PlanLive tells what Collect would call in the mode of o, asking the
// adapter for nothing but its tools and its introspection. The template is
// an object for LiveOptions.Values, with null for every required parameter
// that no value was found for.
func PlanLive(ctx context.Context, o LiveOptions) (plan []Plan, template jsonv.Value, err error) {
	mode := o.Mode
	o.Mode = ModePlan
	c, end, err := open(ctx, o)
	if err != nil {
		return nil, jsonv.Value{}, err
	}
	defer end()
	plan, template = c.planned(mode)
	return plan, template, nil
}

// Left is what a run created and is not known to have removed.
type Left struct {
	RunID string
	IDs   []LeftID
}

// LeftID names one thing by the parameter that deletes it.
type LeftID struct {
	Operation string // that created it
	ID        jsonv.Value
}

// Cleaned is what became of a clean-up.
type Cleaned struct {
	Removed []string // "delete_book book_4"
	Failed  []string // with the reason
}

// maxCleanPages bounds how many pages of a list a clean-up reads.
const maxCleanPages = 200

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
	var out Cleaned
	for _, create := range c.ops {
		remove := c.remover(create)
		if create.category != "CREATE" || create.verb != "create" || remove == nil {
			continue
		}
		seen := map[string]bool{}
		drop := func(id jsonv.Value) {
			if id.IsAbsent() || seen[id.String()] {
				return
			}
			seen[id.String()] = true
			before := len(c.leftovers)
			c.removeOne(c.ctx, create, remove, createdThing{id: id})
			if len(c.leftovers) > before {
				out.Failed = append(out.Failed, remove.name+" "+text(id)+": "+c.leftovers[before].Lookup("reason").Text())
			} else {
				out.Removed = append(out.Removed, remove.name+" "+text(id))
			}
		}
		for _, item := range c.marked(create, left) {
			drop(c.itemID(create, remove, item))
		}
		for _, l := range left {
			for _, id := range l.IDs {
				if id.Operation == create.name {
					drop(id.ID)
				}
			}
		}
	}
	return out, nil
}

func (c *collector) itemID(create, remove *liveOp, item jsonv.Value) jsonv.Value {
	for _, key := range []string{remove.idParam().name, "id", create.resource + "_id"} {
		if v, ok := item.Get(key); ok {
			return v
		}
	}
	return jsonv.Value{}
}

// marked reads a resource's list, page by page, and returns what carries the
// marker of one of the runs.
func (c *collector) marked(create *liveOp, left []Left) (found []jsonv.Value) {
	list := c.partner("list", "READ", create.resource)
	if list == nil || c.barred(list) != "" {
		return nil
	}
	params, why := c.params(list)
	if why != "" {
		return nil
	}
	size := 0
	if p := list.param("limit"); p != nil {
		size = 100
		if _, high := bounds(*p); high < 100 {
			size = int(high)
		}
		params = params.With("limit", jsonv.Int(int64(size)))
	}
	for page := range maxCleanPages {
		at := params
		if page > 0 {
			at = at.With("offset", jsonv.Int(int64(page*size)))
		}
		r := c.call(list, at)
		all := items(r.data(), listDepth)
		for _, item := range all {
			if carries(item, left) {
				found = append(found, item)
			}
		}
		if len(all) < size || size == 0 || list.param("offset") == nil {
			break
		}
	}
	return found
}

func carries(item jsonv.Value, left []Left) bool {
	hit := false
	everyText(item, func(s string) {
		for _, l := range left {
			hit = hit || l.RunID != "" && strings.HasPrefix(s, Marker(l.RunID))
		}
	})
	return hit
}

// CallOnce calls one tool with some arguments and returns the envelope that
// it answered, or what came instead. It is how a finding is repeated.
func CallOnce(ctx context.Context, o LiveOptions, tool string, args jsonv.Value) (jsonv.Value, time.Duration, error) {
	c := newCollector(o)
	c.ctx = ctx
	var err error
	if c.s, err = c.o.Dial(ctx, ""); err != nil {
		return jsonv.Value{}, 0, &NoAdapterError{Reason: "the adapter cannot be reached", Err: err}
	}
	defer func() { c.s.Close(context.WithoutCancel(ctx)) }()
	c.restarts = 1 // a call that kills the adapter is not repeated
	begin := time.Now()
	r := c.sendNow(ctx, reply{tool: tool, args: args})
	return r.response(), time.Since(begin), nil
}
