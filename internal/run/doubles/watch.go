package doubles

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/report/result"
	"mcptest/internal/server/upstream"
	"mcptest/internal/spec/plan"
)

// Watch collects the requests to the upstreams during one test.
type Watch struct {
	alone bool
	list  []watched
}

type watched struct {
	double   *upstream.Double
	watch    *upstream.Watch
	routes   []*upstream.Route // of the test
	examines bool              // the test examines the requests
}

// Begin starts collecting the requests to the doubles of the test's servers. The routes of
// the test require that no other test runs at the same time.
func Begin(c *plan.Case, groups []*Group) *Watch {
	w := &Watch{alone: c.Exclusive}
	for _, d := range listDoubles(groups, (*Group).startedDoubles) {
		name := d.Upstream.Name
		one := watched{double: d, routes: c.Routes[name], examines: c.Examines(name)}
		one.watch = d.Begin(c.Name, one.routes, c.Exclusive, one.examines)
		w.list = append(w.list, one)
	}
	return w
}

// Settle waits for late requests of the latest tests.
func Settle(ctx context.Context, groups []*Group) {
	for _, d := range listDoubles(groups, (*Group).listRunning) {
		d.Settle(ctx)
	}
}

// Settle waits for late requests to the upstreams that the test examines.
func (w *Watch) Settle(ctx context.Context) {
	for _, one := range w.list {
		if one.examines {
			one.double.Settle(ctx)
		}
	}
}

// Answered sets whether the test has got the response to its last call; later
// requests are late.
func (w *Watch) Answered(yes bool) {
	for _, one := range w.list {
		one.watch.Answered(yes)
	}
}

// Requests returns the value of the target upstream: for each upstream, the
// requests before the response.
func (w *Watch) Requests() jsonv.Value {
	if len(w.list) == 0 {
		return jsonv.Value{}
	}
	seen := map[string][]upstream.Exchange{}
	var names []string
	for _, one := range w.list {
		name := one.double.Upstream.Name
		if _, ok := seen[name]; !ok {
			names = append(names, name)
		}
		seen[name] = append(seen[name], one.watch.Seen()...)
	}
	out := jsonv.Object()
	for _, name := range names {
		var requests []jsonv.Value
		sortByTime(seen[name])
		for _, x := range seen[name] {
			if !x.Late {
				requests = append(requests, x.Request.JSON())
			}
		}
		out = out.With(name, jsonv.Object(jsonv.Member{Key: "requests", Value: jsonv.Array(requests...)}))
	}
	return out
}

// Open describes the requests without a complete response at a time; "" if there are
// none.
func (w *Watch) Open(at time.Time) string {
	var b strings.Builder
	for _, one := range w.list {
		for _, x := range one.watch.Open(at) {
			q := x.Request
			since := at.Sub(q.Time).Round(time.Millisecond)
			fmt.Fprintf(&b, "; upstream %q had not responded to %s %s%s for %s", q.Upstream, q.Method, q.Host, q.Path, since)
		}
	}
	return b.String()
}

func sortByTime(list []upstream.Exchange) {
	slices.SortStableFunc(list, func(a, b upstream.Exchange) int { return a.Request.Time.Compare(b.Request.Time) })
}

// End stops collecting.
func (w *Watch) End() {
	for _, one := range w.list {
		one.watch.End()
	}
}

// Record returns the requests so far, with times since start, and the problems with
// them that fail the test.
func (w *Watch) Record(start time.Time) (requests []result.UpstreamRequest, problems []string) {
	var all []upstream.Exchange
	for _, one := range w.list {
		list := one.watch.Seen()
		all = append(all, list...)
		for _, x := range list {
			problem := cmp.Or(x.Missing, x.Unmatched)
			isAllowed := x.Missing == "" && one.double.Upstream.Allowed
			if w.alone && problem != "" && !x.Late && !isAllowed {
				problems = append(problems, problem)
			}
		}
	}
	problems = append(problems, w.findUnusedRoutes()...)
	sortByTime(all)
	for _, x := range all {
		q := x.Request
		r := result.UpstreamRequest{
			Upstream:  q.Upstream,
			Method:    q.Method,
			URL:       q.Path,
			Status:    x.Status,
			Route:     x.Route,
			Late:      x.Late,
			Unmatched: x.Unmatched != "",
			StartMS:   float64(q.Time.Sub(start).Microseconds()) / 1000,
			Headers:   map[string]string{},
			Body:      string(q.Body),
		}
		if len(q.Query) > 0 {
			r.URL += "?" + q.Query.Encode()
		}
		for name, values := range q.Header {
			r.Headers[name] = strings.Join(values, ", ")
		}
		requests = append(requests, r)
	}
	return requests, problems
}

// findUnusedRoutes returns a problem for each route of the test that got no request, because a
// test with an unused route does not test what its author intended.
func (w *Watch) findUnusedRoutes() (problems []string) {
	seen := map[*upstream.Route][]upstream.Exchange{}
	used := map[*upstream.Route]bool{}
	var order []*upstream.Route
	for _, one := range w.list {
		list := one.watch.Seen()
		for _, r := range one.routes {
			if _, ok := seen[r]; !ok {
				order = append(order, r)
			}
			seen[r] = append(seen[r], list...)
			used[r] = used[r] || slices.ContainsFunc(list, func(x upstream.Exchange) bool {
				return !x.Late && x.Route == r.Path
			})
		}
	}
	for _, r := range order {
		if !used[r] {
			problems = append(problems, r.Unused(seen[r]))
		}
	}
	return problems
}
