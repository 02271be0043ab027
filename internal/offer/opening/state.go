package opening

import (
	"context"
	"net/http"
	"slices"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/handshake"
)

// Options are what a script needs to know apart from the server.
type Options struct {
	// Refuses returns why the parser of an SDK refuses a result of tools/list, "" if it
	// doesn't; nil accepts all.
	Refuses func(reader handshake.Reader, page jsonv.Value) string
	// Credentials reports whether requests carry credentials.
	Credentials bool
}

// probeLimit is how long a probe waits for an answer where silence does not end the client:
// it waits for a minute, and goes on.
const probeLimit = 5 * time.Second

// play is one script in progress.
type play struct {
	script   *Script
	line     Line
	o        Options
	r        reading
	modern   bool
	revision string
	caps     jsonv.Value // of the server
	doubt    string
	asked    []string
}

// send sends a step.
func (p *play) send(ctx context.Context, st *Step, limit time.Duration) Answer {
	f := Frame{
		Method: st.Method,
		Raw:    p.script.makeFrame(st, p.modern),
		Asks:   !st.ID.IsAbsent(),
		Header: p.makeHeader(st),
		Limit:  limit,
		Takes:  p.r.takes(st.ID),
		Strict: p.r.strictLines,
	}
	a := p.line.Send(ctx, f)
	for _, method := range a.Asked {
		if !slices.Contains(p.asked, method) {
			p.asked = append(p.asked, method)
		}
	}
	return a
}

// makeHeader returns the headers of a step that depend on the protocol.
func (p *play) makeHeader(st *Step) http.Header {
	h := http.Header{}
	switch {
	case p.modern:
		h.Set("MCP-Protocol-Version", stateless())
		h.Set("Mcp-Method", st.Method)
	case p.revision != "":
		h.Set("MCP-Protocol-Version", p.revision)
	}
	return h
}

// explainUnjudged is the verdict on statuses that say nothing about the client.
func (p *play) explainUnjudged(a Answer) *Verdict {
	why := ""
	refused := a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden
	switch {
	case refused && !p.o.Credentials:
		why = "the server needs credentials (" + formatHTTP(a) + ")"
	case a.Status == http.StatusTooManyRequests || a.Status == http.StatusServiceUnavailable:
		why = "the server is busy (" + formatHTTP(a) + ")"
	default:
		return nil
	}
	return &Verdict{Script: *p.script, Unjudged: why, NeedsCredentials: refused}
}

// findFault returns what the SDK refuses in the result of a handshake, "" for nothing.
func (p *play) findFault(result jsonv.Value, modern bool) string {
	if p.r.sdk == "" {
		return ""
	}
	for _, f := range handshake.Faults(result, modern) {
		if slices.Contains(f.Refused, p.r.sdk) {
			f.Refused = nil
			return f.String()
		}
	}
	return ""
}

// newLost returns a verdict of a client that does not get in.
func (p *play) newLost(reason, method, says, does string) *Verdict {
	return &Verdict{Script: *p.script, Reason: reason, Method: method, Says: says, Does: does, Fix: fixes[reason]}
}
