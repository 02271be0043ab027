package upstream

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/secret"
	"mcptest/internal/base/source"
)

// Route maps requests to responses.
type Route struct {
	Pos  source.Pos
	Path string // in the suite, such as upstreams.github.routes[0]

	method  string
	path    pathTemplate
	query   []condition
	headers []condition
	body    jsonv.Value // absent: any
	replies []*reply
	times   int // 0: unlimited
}

// condition is a condition of a route on one parameter or header.
type condition struct {
	name   string
	values []string // patterns, in which * is any text; each of them must be present
	absent bool
}

// String formats the route for messages: GET /user (upstreams.github.routes[0]).
func (r *Route) String() string {
	name := r.path.text
	if r.method != "" {
		name = r.method + " " + name
	}
	return name + " (" + r.Path + ")"
}

// match returns the variables of the path, and whether the route matches the request.
func (r *Route) match(q *Request) (vars map[string]string, ok bool) {
	for range r.differences(q) {
		return nil, false
	}
	vars, _ = r.path.match(q.Path)
	return vars, true
}

// miss describes the mismatch of the values of a parameter or header; "" if they
// match.
func (c *condition) miss(got []string) string {
	switch {
	case c.absent && len(got) > 0:
		return fmt.Sprintf("is %q, expected none", strings.Join(got, ", "))
	case c.absent:
		return ""
	case len(got) == 0:
		return fmt.Sprintf("is absent, expected %q", strings.Join(c.values, ", "))
	}
	for _, want := range c.values {
		if !slices.ContainsFunc(got, func(s string) bool { return secret.Glob(want, s) }) {
			return fmt.Sprintf("is %q, expected %q", strings.Join(got, ", "), want)
		}
	}
	return ""
}

// pathDifference returns how a path differs, and the weight of it; "" if it does not.
func (r *Route) pathDifference(path string) (weight int, text string) {
	_, wrong := r.path.match(path)
	if wrong == 0 {
		return 0, ""
	}
	if base := r.path.below(path); base != "" {
		return 1, fmt.Sprintf("the path differs: write it with %s, as %s", base, base+r.path.text)
	}
	return 3 * wrong, "the path differs"
}

// differences yields how a request differs from a route, each with its weight.
func (r *Route) differences(q *Request) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		if r.method != "" && r.method != q.Method && !yield(2, "the method is "+q.Method) {
			return
		}
		weight, text := r.pathDifference(q.Path)
		if text != "" && !yield(weight, text) {
			return
		}
		for _, c := range r.query {
			miss := c.miss(q.Query[c.name])
			if miss != "" && !yield(1, fmt.Sprintf("query parameter %q %s", c.name, miss)) {
				return
			}
		}
		for _, c := range r.headers {
			miss := c.miss(q.Header.Values(c.name))
			if miss != "" && !yield(1, fmt.Sprintf("header %q %s", c.name, miss)) {
				return
			}
		}
		if !r.body.IsAbsent() && !jsonv.Equal(r.body, q.Parsed()) {
			yield(1, "the body differs"+firstChange(r.body, q.Parsed()))
		}
	}
}

// firstChange describes the first difference between two bodies.
func firstChange(want, got jsonv.Value) string {
	if got.IsAbsent() {
		return ": there is none"
	}
	for _, c := range jsonv.Diff(want, got) {
		at := cmp.Or(c.Path, "it")
		switch c.Kind {
		case jsonv.Added:
			return fmt.Sprintf(": %s is not expected", at)
		case jsonv.Removed:
			return fmt.Sprintf(": %s is missing", at)
		default:
			return fmt.Sprintf(": %s is %s, expected %s", at, short(c.Got), short(c.Want))
		}
	}
	return ""
}

func short(v jsonv.Value) string {
	text := []rune(v.String())
	if len(text) > 60 {
		return string(text[:60]) + "…"
	}
	return string(text)
}

// candidate is a route and a request that differ.
type candidate struct {
	*Route
	*Request
	far     int
	reasons []string
}

// nearer compares a route and a request, and returns them if they are nearer to each
// other than those of c, or c.
func (c *candidate) nearer(r *Route, q *Request) *candidate {
	next := &candidate{Route: r, Request: q}
	for weight, reason := range r.differences(q) {
		next.far += weight
		next.reasons = append(next.reasons, reason)
	}
	if c != nil && c.far <= next.far {
		return c
	}
	return next
}

// explain returns the message that no route matches a request, with the nearest
// route.
func explain(routes []*Route, q *Request) string {
	target := q.Path
	if len(q.Query) > 0 {
		target += "?" + q.Query.Encode()
	}
	msg := fmt.Sprintf("no route of upstream %q matches %s %s", q.Upstream, q.Method, target)
	var nearest *candidate
	for _, r := range routes {
		nearest = nearest.nearer(r, q)
	}
	switch {
	case nearest == nil:
		return msg + "; it has no routes"
	case len(nearest.reasons) == 0:
		return fmt.Sprintf("%s; %s has been used up after %s", msg, nearest.Route, display.Count(nearest.times, "time"))
	}
	return fmt.Sprintf("%s; nearest: %s: %s", msg, nearest.Route, strings.Join(nearest.reasons, ", "))
}

// Unused returns the message that none of the requests used the route, with the
// nearest request.
func (r *Route) Unused(list []Exchange) string {
	msg := r.Path + " was never used; "
	var nearest *candidate
	for _, x := range list {
		nearest = nearest.nearer(r, x.Request)
	}
	switch {
	case nearest == nil:
		return msg + "the upstream got no request"
	case len(nearest.reasons) == 0:
		return fmt.Sprintf("%san earlier route responded to %s %s", msg, nearest.Method, nearest.Request.Path)
	}
	return fmt.Sprintf("%sthe nearest request was %s %s: %s", msg, nearest.Method, nearest.Request.Path, strings.Join(nearest.reasons, ", "))
}

// covers reports whether every request that s matches is matched by r.
func (r *Route) covers(s *Route) bool {
	if r.method != "" && r.method != s.method {
		return false
	}
	if !r.path.covers(&s.path) || !isImplied(r.query, s.query) || !isImplied(r.headers, s.headers) {
		return false
	}
	return r.body.IsAbsent() || !s.body.IsAbsent() && jsonv.Equal(r.body, s.body)
}

// isImplied reports whether requests that satisfy the conditions have satisfy those
// of want.
func isImplied(want, have []condition) bool {
	return !slices.ContainsFunc(want, func(w condition) bool {
		return !slices.ContainsFunc(have, func(h condition) bool { return h.name == w.name && w.follows(h) })
	})
}

func (c *condition) follows(h condition) bool {
	if c.absent || h.absent {
		return c.absent && h.absent
	}
	return !slices.ContainsFunc(c.values, func(want string) bool {
		return !slices.ContainsFunc(h.values, func(s string) bool {
			return want == s || want == "*" || !strings.Contains(s, "*") && secret.Glob(want, s)
		})
	})
}
