package explain

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/term"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// writeExchanges writes all frames if verbose, otherwise those of the call without a
// response.
func writeExchanges(p *render.Printer, c *result.Case) {
	for i := range c.Exchanges {
		x := &c.Exchanges[i]
		if !p.Verbose && (c.Status != result.Error || x.Error == "") {
			continue
		}
		exchange(p, 3, x, c.Message)
	}
}

// exchange writes the frames of a call, and the reason for a missing response unless
// the headline contains it.
func exchange(p *render.Printer, indent int, x *result.Exchange, headline string) {
	p.Line(indent, p.Faint(ExchangeTitle(x)))
	for _, f := range ListFrames(x) {
		writeFrame(p, indent, f.Arrow, f.Raw)
	}
	if x.Error != "" && (p.Verbose || !strings.Contains(headline, x.Error)) {
		p.Line(indent, p.Paint(term.Broken, "✗ "), render.OneLine(x.Error, render.LongestLine))
	}
}

// FindLastCall returns the last call of a case with its arguments, and the name of its step;
// "" if the call has no arguments and is the only one.
func FindLastCall(c *result.Case) (step, text string) {
	if len(c.Exchanges) == 0 {
		return "", ""
	}
	x := &c.Exchanges[len(c.Exchanges)-1]
	f, ok := requestOf(x)
	if !ok {
		return x.Step, x.Request // raw bytes, or shortened
	}
	args := string(f.Params.Arguments)
	if x.Step == "" && (args == "" || args == "{}") {
		return "", ""
	}
	return x.Step, strings.Join(strings.Fields(x.Method+" "+f.Params.Name+f.Params.URI), " ") + " " + args
}

// ExchangeTitle returns the request, the HTTP status and the duration.
func ExchangeTitle(x *result.Exchange) string {
	title := "exchange  "
	if x.Step != "" {
		title += term.Escape(x.Step) + "  "
	}
	title += term.Escape(x.Method)
	if x.HTTP != nil {
		title += fmt.Sprintf("  HTTP %d", x.HTTP.Status)
		if x.HTTP.Attempts > 1 {
			title += fmt.Sprintf(" after %d attempts", x.HTTP.Attempts)
		}
	}
	return title + "  (" + render.Duration(x.DurationMS) + ")"
}

// writeFrame writes a frame after an arrow. Verbose output indents JSON.
func writeFrame(p *render.Printer, indent int, arrow, raw string) {
	if !p.Verbose {
		p.Line(indent, p.Faint(arrow), render.OneLine(raw, render.LongestExcerpt))
		return
	}
	var b bytes.Buffer
	if json.Indent(&b, []byte(raw), "", "  ") != nil || b.Len() < 100 {
		p.Line(indent, p.Faint(arrow), term.Escape(raw))
		return
	}
	for i, l := range strings.Split(term.EscapeLines(b.String()), "\n") {
		if i > 0 {
			arrow = "  "
		}
		p.Line(indent, p.Faint(arrow), l)
	}
}

// ExchangeLines returns the messages of an exchange, one per line, with arrows for
// their direction.
func ExchangeLines(x *result.Exchange) string {
	var b strings.Builder
	for _, f := range append(ListFrames(x), Frame{"✗ ", x.Error}) {
		if f.Raw != "" {
			b.WriteString(f.Arrow + f.Raw + "\n")
		}
	}
	return b.String()
}

// Frame is a message of an exchange, and an arrow for its direction.
type Frame struct{ Arrow, Raw string }

// ListFrames returns the messages of an exchange: the request, which may be empty, what was
// sent until the response, and the response if there is one.
func ListFrames(x *result.Exchange) []Frame {
	all := []Frame{{"→ ", x.Request}}
	for _, m := range x.During {
		arrow := "← "
		if m.Dir == "to-server" {
			arrow = "→ "
		}
		all = append(all, Frame{arrow, m.Raw})
	}
	if x.Response != "" {
		all = append(all, Frame{"← ", x.Response})
	}
	return all
}

// upstreamRequests limits the requests to upstreams that are shown.
const upstreamRequests = 10

// Upstream writes the server's requests to upstreams, one per line.
func Upstream(p *render.Printer, indent int, c *result.Case) {
	for i := range c.Upstream {
		if i == upstreamRequests && !p.Verbose {
			p.Line(indent, p.Faint("… and "+display.Count(len(c.Upstream)-i, "more request")+" to upstreams"))
			return
		}
		p.Line(indent, p.Faint("upstream  "), FormatUpstream(&c.Upstream[i]))
	}
}

// FormatUpstream returns one request to an upstream: GET /user → 200 (api).
func FormatUpstream(u *result.UpstreamRequest) string {
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
