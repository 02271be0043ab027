package explain

import (
	"fmt"
	"strings"

	"mcptest/internal/display"
	"mcptest/internal/report/render"
	"mcptest/internal/result"
	"mcptest/internal/term"
)

// upstreamRequests limits the requests to upstreams that are shown.
const upstreamRequests = 10

// Upstream writes the server's requests to upstreams, one per line.
func Upstream(p *render.Printer, indent int, c *result.Case) {
	for i := range c.Upstream {
		if i == upstreamRequests && !p.Verbose {
			p.Line(indent, p.Faint("… and "+display.Count(len(c.Upstream)-i, "more request")+" to upstreams"))
			return
		}
		p.Line(indent, p.Faint("upstream  "), UpstreamLine(&c.Upstream[i]))
	}
}

// UpstreamLine returns one request to an upstream: GET /user → 200 (api).
func UpstreamLine(u *result.UpstreamRequest) string {
	status := "closed"
	if u.Status > 0 {
		status = fmt.Sprint(u.Status)
	}
	notes := []string{term.Escape(u.Upstream)}
	if u.Unmatched {
		notes = append(notes, "no route")
	}
	if u.Late {
		notes = append(notes, "after the response")
	}
	return render.OneLine(u.Method+" "+u.URL, render.LongestLine) + " → " + status + " (" + strings.Join(notes, ", ") + ")"
}
