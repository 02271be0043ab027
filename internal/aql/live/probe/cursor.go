package probe

import (
	"strings"

	"mcptest/internal/aql/live/catalog"
	"mcptest/internal/aql/live/guard"
	"mcptest/internal/jsonv"
)

// Paging by cursors (PG): four parameters that only go together in pairs, and
// a pageInfo in the answer.

// companions returns the parameters that a parameter requires, and the only value
// that the parameter can have: a cursor comes from an answer.
func (pr operationProbe) companions(op *catalog.Operation, p catalog.Parameter, params jsonv.Value, base guard.Reply) (jsonv.Value, bool) {
	pair := catalog.CursorPair(p.Name)
	if pair == "" || !op.Cursors() || op.Param(pair) == nil {
		return params, true
	}
	at := map[string]string{"after": "startCursor", "before": "endCursor"}[p.Name]
	cursor := base.Data().Lookup("pageInfo", at)
	if cursor.Kind() != jsonv.KindString {
		return params, false
	}
	return params.With(p.Name, cursor).With(pair, jsonv.Int(1)), true
}

// pagination tests the first operation that pages by cursors and has more than one
// item.
func (pr featureProbe) pagination() {
	t := pr.run.Rows.Tests["pagination"]
	t.NotApplicable = "no operation pages by cursors"
	for _, op := range pr.run.Catalog.Operations {
		if op.Category != "READ" || !op.Cursors() || pr.run.Skipped[op.Name] != "" {
			continue
		}
		t.NotApplicable, t.Incomplete = "", "there were not two things to page through"
		if base := pr.run.Base[op.Name]; base.OK() && len(catalog.Items(base.Data(), catalog.ListDepth)) > 1 {
			pr.pageThrough(op)
			return
		}
	}
}

func (pr featureProbe) pageThrough(op *catalog.Operation) {
	ask := func(pairs ...any) guard.Reply {
		params := pr.run.Builder.Fresh(op)
		for i := 0; i < len(pairs); i += 2 {
			params = params.With(pairs[i].(string), jsonv.From(pairs[i+1]))
		}
		return pr.run.Caller.Call(op, params)
	}
	one := ask("first", 1)
	if !one.OK() {
		return
	}
	pr.run.Rows.Count("pagination")
	info := one.Data().Lookup("pageInfo")
	pr.checkPageInfo(op, one, true, false)
	cursor := info.Lookup("endCursor").Text()
	if cursor == "" {
		return
	}
	two := ask("first", 1, "after", cursor)
	switch a, b := catalog.Items(one.Data(), catalog.ListDepth), catalog.Items(two.Data(), catalog.ListDepth); {
	case !two.Sent():
		return
	case !two.OK():
		pr.run.Rows.Fail("pagination.next", two, "%s refuses its own cursor: %s", op.Name, two.Brief())
	case len(b) != 1 || len(a) == 1 && jsonv.Equal(a[0], b[0]):
		pr.run.Rows.Fail("pagination.next", two, "%s after a cursor does not answer the one thing that follows", op.Name)
	default:
		pr.checkPageInfo(op, two, two.Data().Lookup("pageInfo", "hasNextPage").Bool(), true)
	}
	pr.lastPage(op, ask("first", 100))
	mixed := [][]any{{"after", cursor}}
	if op.Param("last") != nil {
		mixed = append(mixed, []any{"first", 1, "last", 1}, []any{"last", 1, "after", cursor})
	}
	if op.Param("before") != nil {
		mixed = append(mixed, []any{"before", cursor}, []any{"first", 1, "before", cursor})
	}
	for _, pairs := range mixed {
		var names []string
		for i := 0; i < len(pairs); i += 2 {
			names = append(names, pairs[i].(string))
		}
		r := ask(pairs...)
		switch {
		case !r.Sent():
		case r.OK():
			pr.run.Rows.Fail("pagination.combinations", r, "%s accepts %s without the parameters that it requires, or with ones that exclude it", op.Name, strings.Join(names, " and "))
		default:
			pr.run.Failed(op.Name+" with "+strings.Join(names, " and "), r)
		}
	}
}

// lastPage checks a page that holds everything: no page may follow it.
func (pr featureProbe) lastPage(op *catalog.Operation, r guard.Reply) {
	if n := len(catalog.Items(r.Data(), catalog.ListDepth)); r.OK() && n > 0 && n < 100 {
		pr.checkPageInfo(op, r, false, false)
	}
}

// checkPageInfo compares pageInfo with the required members (PG 3.2).
func (pr featureProbe) checkPageInfo(op *catalog.Operation, r guard.Reply, next, previous bool) {
	info := r.Data().Lookup("pageInfo")
	if info.Kind() != jsonv.KindObject {
		pr.run.Rows.Fail("pagination.info", r, "%s answers a page without pageInfo", op.Name)
		return
	}
	for _, f := range []struct {
		name string
		want bool
	}{{"hasNextPage", next}, {"hasPreviousPage", previous}} {
		switch v := info.Lookup(f.name); {
		case v.Kind() != jsonv.KindBool:
			pr.run.Rows.Fail("pagination.info", r, "%s answers a pageInfo without %s", op.Name, f.name)
		case v.Bool() != f.want:
			pr.run.Rows.Fail("pagination.flags", r, "%s answers %s %v where it is %v", op.Name, f.name, v.Bool(), f.want)
		}
	}
	for _, name := range []string{"startCursor", "endCursor"} {
		if info.Lookup(name).Kind() != jsonv.KindString {
			pr.run.Rows.Fail("pagination.info", r, "%s answers things without %s", op.Name, name)
		}
	}
}
