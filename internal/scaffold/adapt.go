package scaffold

import (
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/draft"
	"mcptest/internal/mcp/protocol"
	"mcptest/internal/result"
)

// Adapt changes the suite after a run of it; false if there was nothing that it
// could change. Violations are tolerated, and a test that fails for another
// reason expects less or is skipped.
func (d *Draft) Adapt(r *result.Run) (changed bool) {
	before := slices.Clone(d.Suite.Server.Tolerate)
	tolerate := func(kind string) bool {
		known := kind == "output-schema" || slices.ContainsFunc(protocol.ViolationKinds, func(k protocol.ViolationKind) bool { return k.Name == kind })
		if !known || slices.Contains(before, kind) {
			return false // tolerated in this trial already, so it is not why the test failed
		}
		if !slices.Contains(d.Suite.Server.Tolerate, kind) {
			d.Suite.Server.Tolerate = append(d.Suite.Server.Tolerate, kind)
		}
		return true
	}
	for _, f := range r.Findings {
		if f.Severity == "error" {
			changed = tolerate(f.Kind) || changed
		}
	}
	attributed := false // requests to upstreams, to a test
	names := d.Suite.Names()
	for c, err := range r.Cases.All() {
		if err != nil {
			continue
		}
		if at := slices.Index(names, c.Name); at >= 0 && d.requested(d.Suite.Tests[at], c) {
			changed, attributed = true, true
			continue
		}
		if c.Status != result.Fail && c.Status != result.Error {
			continue
		}
		forgiven := false
		for _, v := range c.Violations {
			forgiven = tolerate(v.Kind) || forgiven
		}
		if at := slices.Index(names, c.Name); !forgiven && at >= 0 {
			d.relax(d.Suite.Tests[at], c.Message)
			forgiven = true
		}
		changed = changed || forgiven
	}
	if !attributed && slices.ContainsFunc(r.Findings, func(f result.Finding) bool { return f.Kind == "unmatched-upstream-request" }) {
		for _, u := range d.Suite.Upstreams {
			changed, u.Allowed = changed || !u.Allowed, true
		}
	}
	slices.Sort(d.Suite.Server.Tolerate)
	return changed
}

// requested expects the requests that a test made the server send to upstreams,
// and skips a test that needs one that no route answers. It reports whether the
// test is now another one.
func (d *Draft) requested(t *draft.Test, c *result.Case) bool {
	var sent []draft.Requested
	for _, q := range c.Upstream {
		path, _, _ := strings.Cut(q.URL, "?")
		if q.Unmatched && !slices.ContainsFunc(d.Suite.Upstreams, func(u *draft.Upstream) bool { return u.Name == q.Upstream && u.Allowed }) {
			t.Requested, t.Skip = nil, fmt.Sprintf("it sent %s %s to %s, which was not recorded", q.Method, path, q.Upstream)
			return true
		}
		sent = append(sent, draft.Requested{Upstream: q.Upstream, Method: q.Method, Path: path})
	}
	if t.Skip != "" || t.Unsteady || t.Loose || slices.Equal(sent, t.Requested) {
		return false
	}
	t.Unsteady = t.Requested != nil
	if t.Requested = sent; t.Unsteady {
		t.Requested = nil
	}
	return true
}

// relax expects less of a test that failed: one that is refused in different
// ways is only expected to be answered, any other is skipped.
func (d *Draft) relax(t *draft.Test, message string) {
	unexamined := strings.Contains(message, "no assertion examines")
	if !t.Loose && t.List == "" && (unexamined || t.Refused()) {
		t.Loose = true
		return
	}
	t.Skip = "it failed when the suite was tried: " + message
}
