package source

import "fmt"

// maxDiagnostics limits the number of diagnostics, so that the work for a completely
// invalid file is bounded.
const maxDiagnostics = 10_000

// collector gathers diagnostics up to the limit and counts the rest.
type collector struct {
	diags   Diagnostics
	dropped int
	first   Diagnostic // first dropped diagnostic, with the most severe severity
}

func (c *collector) full() bool { return len(c.diags) >= maxDiagnostics }

// add adds a diagnostic and returns a pointer to it for further details; the pointer
// is valid until the next add.
func (c *collector) add(d Diagnostic) *Diagnostic {
	if c.full() {
		return c.drop(d.Pos, d.Severity)
	}
	c.diags = append(c.diags, d)
	return &c.diags[len(c.diags)-1]
}

// drop counts a diagnostic over the limit.
func (c *collector) drop(pos Pos, sev Severity) *Diagnostic {
	if c.dropped == 0 {
		c.first = Diagnostic{Pos: pos, Severity: sev}
	}
	c.dropped++
	c.first.Severity = min(c.first.Severity, sev)
	return new(Diagnostic)
}

// listAll returns the diagnostics, and a last entry that counts the dropped ones.
func (c *collector) listAll() Diagnostics {
	if c.dropped == 0 {
		return c.diags
	}
	rest := c.first
	rest.Code, rest.Msg = "too-many", fmt.Sprintf("%d more problems after this one", c.dropped)
	return append(c.diags[:len(c.diags):len(c.diags)], rest)
}
