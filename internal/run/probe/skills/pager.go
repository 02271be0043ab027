package skills

import (
	"context"
	"slices"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/offer/skill"
	"mcptest/internal/run/probe/exam"
)

// Limits of one list.
const (
	mostPages   = 1000
	mostEntries = 10_000
	mostPaged   = 64 << 20 // bytes of its pages
)

// pager reads the pages of a list. It keeps no page.
type pager struct {
	method, member string
	params         jsonv.Value
	see            func(x *mcp.Exchange, items []jsonv.Value) // each page, may be nil

	first  *mcp.Exchange // the first page, or what came instead of one
	broken *mcp.Exchange // a page without a result
	items  []jsonv.Value
	loop   string // why the pages would never end
	looped *mcp.Exchange
	cut    bool // not read to its end
	pages  int
	size   int // of the pages, in bytes
}

// isLong reports whether a list is too long to be read for each file that differs.
func (p *pager) isLong() bool { return p.pages > 10 || p.size > 1<<20 || p.cut || p.loop != "" }

// run reads the pages.
func (p *pager) run(ctx context.Context, do func(context.Context, string, jsonv.Value) *mcp.Exchange) {
	seen := map[string]bool{}
	params := p.params
	before := jsonv.Value{}
	for range mostPages {
		x := do(ctx, p.method, params)
		if p.first == nil {
			p.first = x
		}
		if x.Result == nil {
			p.broken = x
			return
		}
		res := exam.Result(x)
		page := res.Lookup(p.member)
		if page.Len() > 0 && jsonv.Equal(page, before) {
			p.loop, p.looped = "the same page came again for another cursor", x
			return
		}
		before = page
		if p.see != nil {
			p.see(x, page.List())
		}
		p.items = append(p.items, page.List()...)
		p.size += len(x.Result)
		p.pages++
		cursor := res.Lookup("nextCursor")
		switch {
		case cursor.Kind() != jsonv.KindString:
			return
		case seen[cursor.Text()]:
			p.loop, p.looped = "the cursor "+cursor.Short(80)+" came twice", x
			return
		case ctx.Err() != nil, len(p.items) > mostEntries, p.size > mostPaged:
			p.cut = true
			return
		}
		seen[cursor.Text()] = true
		params = p.params.With("cursor", cursor)
	}
	p.cut = true
}

// listing is what skills/list returned.
type listing struct {
	pager
	entries []skill.Entry
}

// find returns the entry of a skill.
func (l *listing) find(uri string) (skill.Entry, bool) {
	id := skill.Identity(uri)
	i := slices.IndexFunc(l.entries, func(e skill.Entry) bool { return skill.Identity(e.URI) == id })
	if i < 0 {
		return skill.Entry{}, false
	}
	return l.entries[i], true
}
