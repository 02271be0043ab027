package source

import "fmt"

// maxDiagnostics is where collecting stops: no one reads on, and a file made
// to be wrong everywhere must not cost more than it weighs.
const maxDiagnostics = 10_000

// collector gathers diagnostics up to the limit and owns up to the rest.
type collector struct {
	diags   Diagnostics
	dropped int
	first   Diagnostic // of the dropped, with the severity of the worst
}

func (c *collector) full() bool { return len(c.diags) >= maxDiagnostics }

// add keeps a diagnostic and returns where it is kept, so that details can be
// filled in; the pointer is good until the next add.
func (c *collector) add(d Diagnostic) *Diagnostic {
	if c.full() {
		return c.drop(d.Pos, d.Severity)
	}
	c.diags = append(c.diags, d)
	return &c.diags[len(c.diags)-1]
}

// drop counts a diagnostic that there is no room for.
func (c *collector) drop(pos Pos, sev Severity) *Diagnostic {
	if c.dropped == 0 {
		c.first = Diagnostic{Pos: pos, Severity: sev}
	}
	c.dropped++
	c.first.Severity = min(c.first.Severity, sev)
	return new(Diagnostic)
}

// all returns what was kept, and a last entry that counts what was not.
func (c *collector) all() Diagnostics {
	if c.dropped == 0 {
		return c.diags
	}
	rest := c.first
	rest.Code, rest.Msg = "too-many", fmt.Sprintf("%d more problems from here on", c.dropped)
	return append(c.diags[:len(c.diags):len(c.diags)], rest)
}
