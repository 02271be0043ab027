package pretty

import (
	"fmt"

	"mcptest/internal/display"
	"mcptest/internal/report/explain"
	"mcptest/internal/report/render"
	"mcptest/internal/result"
	"mcptest/internal/term"
)

// Limits of the exchanges of a passed test in verbose output.
const (
	passedExchanges = 20
	passedMessages  = 10
)

// listPassed writes the details of a passed test for verbose output: its assertions,
// and a line for each frame.
func listPassed(p *render.Printer, c *result.Case) {
	if c.Status != result.Pass {
		return // explained with the failures
	}
	for i := range c.Assertions {
		a := &c.Assertions[i]
		if a.Pass {
			p.Line(6, p.Paint(term.Good, "✓ "), p.Faint(explain.Label(a)), explain.Weighed(p, a))
		}
	}
	for i := range c.Exchanges {
		if i == passedExchanges {
			p.Line(6, p.Faint(fmt.Sprintf("… and %s", display.Count(len(c.Exchanges)-i, "more exchange"))))
			return
		}
		passedExchange(p, &c.Exchanges[i])
	}
	explain.Upstream(p, 6, c)
}

func passedExchange(p *render.Printer, x *result.Exchange) {
	p.Line(6, p.Faint(explain.ExchangeTitle(x)))
	frame := func(arrow, raw string) { p.Line(6, p.Faint(arrow), render.OneLine(raw, render.LongestLine)) }
	frame("→ ", x.Request)
	for i, m := range x.During {
		if i == passedMessages {
			p.Line(6, p.Faint(fmt.Sprintf("… and %s", display.Count(len(x.During)-i, "more message"))))
			break
		}
		if m.Dir == "to-server" {
			frame("→ ", m.Raw)
			continue
		}
		frame("← ", m.Raw)
	}
	if x.Response != "" {
		frame("← ", x.Response)
	}
	if x.Error != "" {
		p.Line(6, p.Paint(term.Broken, "✗ "), render.OneLine(x.Error, render.LongestLine))
	}
}
