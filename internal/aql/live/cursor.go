package live

import (
	"strings"

	"mcptest/internal/jsonv"
)

// Paging by cursors (PG): four parameters that only go together in pairs, and
// a pageInfo in the answer.

// companions are the parameters that a parameter wants beside it, and the
// value that it can have at all: a cursor comes from an answer.
func (pr operationProbe) companions(op *liveOp, p liveParam, params jsonv.Value, base reply) (jsonv.Value, bool) {
	pair := cursorPair(p.name)
	if pair == "" || !op.cursors() || op.param(pair) == nil {
		return params, true
	}
	at := map[string]string{"after": "startCursor", "before": "endCursor"}[p.name]
	cursor := base.data().Lookup("pageInfo", at)
	if cursor.Kind() != jsonv.KindString {
		return params, false
	}
	return params.With(p.name, cursor).With(pair, jsonv.Int(1)), true
}

// pagination looks at the first operation that pages by cursors and has more
// than one thing to page through.
func (pr featureProbe) pagination() {
	t := pr.run.rows.tests["pagination"]
	t.moot = "no operation pages by cursors"
	for _, op := range pr.run.catalog.ops {
		if op.category != "READ" || !op.cursors() || pr.run.skipped[op.name] != "" {
			continue
		}
		t.moot, t.lacking = "", "there were not two things to page through"
		if base := pr.run.base[op.name]; base.ok() && len(items(base.data(), listDepth)) > 1 {
			pr.pageThrough(op)
			return
		}
	}
}

func (pr featureProbe) pageThrough(op *liveOp) {
	ask := func(pairs ...any) reply {
		params := pr.run.builder.fresh(op)
		for i := 0; i < len(pairs); i += 2 {
			params = params.With(pairs[i].(string), jsonv.From(pairs[i+1]))
		}
		return pr.run.caller.call(op, params)
	}
	one := ask("first", 1)
	if !one.ok() {
		return
	}
	pr.run.rows.sees("pagination")
	info := one.data().Lookup("pageInfo")
	pr.checkPageInfo(op, one, true, false)
	cursor := info.Lookup("endCursor").Text()
	if cursor == "" {
		return
	}
	two := ask("first", 1, "after", cursor)
	switch a, b := items(one.data(), listDepth), items(two.data(), listDepth); {
	case !two.sent():
		return
	case !two.ok():
		pr.run.rows.breaks("pagination.next", two, "%s refuses its own cursor: %s", op.name, two.brief())
	case len(b) != 1 || len(a) == 1 && jsonv.Equal(a[0], b[0]):
		pr.run.rows.breaks("pagination.next", two, "%s after a cursor does not answer the one thing that follows", op.name)
	default:
		pr.checkPageInfo(op, two, two.data().Lookup("pageInfo", "hasNextPage").Bool(), true)
	}
	pr.lastPage(op, ask("first", 100))
	mixed := [][]any{{"after", cursor}}
	if op.param("last") != nil {
		mixed = append(mixed, []any{"first", 1, "last", 1}, []any{"last", 1, "after", cursor})
	}
	if op.param("before") != nil {
		mixed = append(mixed, []any{"before", cursor}, []any{"first", 1, "before", cursor})
	}
	for _, pairs := range mixed {
		var names []string
		for i := 0; i < len(pairs); i += 2 {
			names = append(names, pairs[i].(string))
		}
		r := ask(pairs...)
		switch {
		case !r.sent():
		case r.ok():
			pr.run.rows.breaks("pagination.combinations", r, "%s accepts %s without the parameters that it requires, or with ones that exclude it", op.name, strings.Join(names, " and "))
		default:
			pr.run.failed(op.name+" with "+strings.Join(names, " and "), r)
		}
	}
}

// lastPage is a page that holds everything: nothing comes after it.
func (pr featureProbe) lastPage(op *liveOp, r reply) {
	if n := len(items(r.data(), listDepth)); r.ok() && n > 0 && n < 100 {
		pr.checkPageInfo(op, r, false, false)
	}
}

// checkPageInfo holds pageInfo against what has to be there (PG 3.2).
func (pr featureProbe) checkPageInfo(op *liveOp, r reply, next, previous bool) {
	info := r.data().Lookup("pageInfo")
	if info.Kind() != jsonv.KindObject {
		pr.run.rows.breaks("pagination.info", r, "%s answers a page without pageInfo", op.name)
		return
	}
	for _, f := range []struct {
		name string
		want bool
	}{{"hasNextPage", next}, {"hasPreviousPage", previous}} {
		switch v := info.Lookup(f.name); {
		case v.Kind() != jsonv.KindBool:
			pr.run.rows.breaks("pagination.info", r, "%s answers a pageInfo without %s", op.name, f.name)
		case v.Bool() != f.want:
			pr.run.rows.breaks("pagination.flags", r, "%s answers %s %v where it is %v", op.name, f.name, v.Bool(), f.want)
		}
	}
	for _, name := range []string{"startCursor", "endCursor"} {
		if info.Lookup(name).Kind() != jsonv.KindString {
			pr.run.rows.breaks("pagination.info", r, "%s answers things without %s", op.name, name)
		}
	}
}
