package upstream

import (
	"cmp"
	"fmt"
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
	if r.method != "" && r.method != q.Method {
		return nil, false
	}
	vars, wrong := r.path.match(q.Path)
	if wrong > 0 {
		return nil, false
	}
	for _, c := range r.query {
		if c.miss(q.Query[c.name]) != "" {
			return nil, false
		}
	}
	for _, c := range r.headers {
		if c.miss(q.Header.Values(c.name)) != "" {
			return nil, false
		}
	}
	if !r.body.IsAbsent() && !jsonv.Equal(r.body, q.Parsed()) {
		return nil, false
	}
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
		if !slices.ContainsFunc(got, func(s string) bool { return glob(want, s) }) {
			return fmt.Sprintf("is %q, expected %q", strings.Join(got, ", "), want)
		}
	}
	return ""
}

// glob compares a text with a pattern in which * is any text.
func glob(pattern, s string) bool { return secret.MatchesPieces(strings.Split(pattern, "*"), s, 0) }

// distance returns how far a request is from a route, and the differences.
func (r *Route) distance(q *Request) (far int, why []string) {
	note := func(weight int, format string, args ...any) {
		far += weight
		why = append(why, fmt.Sprintf(format, args...))
	}
	if r.method != "" && r.method != q.Method {
		note(2, "the method is %s", q.Method)
	}
	if _, wrong := r.path.match(q.Path); wrong > 0 {
		if base := r.path.below(q.Path); base != "" {
			note(1, "the path differs: write it with %s, as %s", base, base+r.path.text)
		} else {
			note(3*wrong, "the path differs")
		}
	}
	for _, c := range r.query {
		if miss := c.miss(q.Query[c.name]); miss != "" {
			note(1, "query parameter %q %s", c.name, miss)
		}
	}
	for _, c := range r.headers {
		if miss := c.miss(q.Header.Values(c.name)); miss != "" {
			note(1, "header %q %s", c.name, miss)
		}
	}
	if body := q.Parsed(); !r.body.IsAbsent() && !jsonv.Equal(r.body, body) {
		note(1, "the body differs%s", firstChange(r.body, body))
	}
	return far, why
}

// firstChange describes the first difference between two bodies.
func firstChange(want, got jsonv.Value) string {
	if got.IsAbsent() {
		return ": there is none"
	}
	for _, c := range jsonv.Diff(want, got) {
		switch at := cmp.Or(c.Path, "it"); c.Kind {
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

// explain returns the message that no route matches a request, with the nearest
// route.
func explain(routes []*Route, q *Request) string {
	target := q.Path
	if len(q.Query) > 0 {
		target += "?" + q.Query.Encode()
	}
	msg := fmt.Sprintf("no route of upstream %q matches %s %s", q.Upstream, q.Method, target)
	var nearest *Route
	var reasons []string
	least := 0
	for _, r := range routes {
		if far, why := r.distance(q); nearest == nil || far < least {
			nearest, reasons, least = r, why, far
		}
	}
	switch {
	case nearest == nil:
		return msg + "; it has no routes"
	case len(reasons) == 0:
		return fmt.Sprintf("%s; %s has been used up after %s", msg, nearest, display.Count(nearest.times, "time"))
	}
	return fmt.Sprintf("%s; nearest: %s: %s", msg, nearest, strings.Join(reasons, ", "))
}

// Unused returns the message that none of the requests used the route, with the
// nearest request.
func (r *Route) Unused(list []Exchange) string {
	msg := r.Path + " was never used; "
	var nearest *Request
	var reasons []string
	least := 0
	for _, x := range list {
		if far, why := r.distance(x.Request); nearest == nil || far < least {
			nearest, reasons, least = x.Request, why, far
		}
	}
	switch {
	case nearest == nil:
		return msg + "the upstream got no request"
	case len(reasons) == 0:
		return fmt.Sprintf("%san earlier route responded to %s %s", msg, nearest.Method, nearest.Path)
	}
	return fmt.Sprintf("%sthe nearest request was %s %s: %s", msg, nearest.Method, nearest.Path, strings.Join(reasons, ", "))
}

// covers reports whether every request that s matches is matched by r.
func (r *Route) covers(s *Route) bool {
	return (r.method == "" || r.method == s.method) && r.path.covers(&s.path) && implied(r.query, s.query) && implied(r.headers, s.headers) &&
		(r.body.IsAbsent() || !s.body.IsAbsent() && jsonv.Equal(r.body, s.body))
}

// implied reports whether requests that satisfy the conditions have satisfy those
// of want.
func implied(want, have []condition) bool {
	return !slices.ContainsFunc(want, func(w condition) bool {
		return !slices.ContainsFunc(have, func(h condition) bool { return h.name == w.name && w.follows(h) })
	})
}

func (c *condition) follows(h condition) bool {
	if c.absent || h.absent {
		return c.absent && h.absent
	}
	for _, want := range c.values {
		if !slices.ContainsFunc(h.values, func(s string) bool { return want == s || want == "*" || !strings.Contains(s, "*") && glob(want, s) }) {
			return false
		}
	}
	return true
}
