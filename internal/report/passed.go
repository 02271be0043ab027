package report

import (
	"fmt"

	"mcptest/internal/display"
	"mcptest/internal/result"
	"mcptest/internal/term"
)

// How much of the exchanges of a test that passed verbose output shows.
const (
	passedExchanges = 20
	passedMessages  = 10
)

// passed writes below the line of a test that passed what verbose output
// promises: what was checked, and what went over the wire, a line for each
// frame.
func listPassed(p *printer, c *result.Case) {
	if c.Status != result.Pass {
		return // explained with the failures
	}
	for i := range c.Assertions {
		a := &c.Assertions[i]
		if a.Pass {
			p.line(6, p.paint(term.Good, "✓ "), p.faint(label(a)), weighed(p, a))
		}
	}
	for i := range c.Exchanges {
		if i == passedExchanges {
			p.line(6, p.faint(fmt.Sprintf("… and %s", display.Count(len(c.Exchanges)-i, "more exchange"))))
			return
		}
		passedExchange(p, &c.Exchanges[i])
	}
}

func passedExchange(p *printer, x *result.Exchange) {
	p.line(6, p.faint(exchangeTitle(x)))
	frame := func(arrow, raw string) { p.line(6, p.faint(arrow), oneLine(raw, longest)) }
	frame("→ ", x.Request)
	for i, m := range x.During {
		if i == passedMessages {
			p.line(6, p.faint(fmt.Sprintf("… and %s", display.Count(len(x.During)-i, "more message"))))
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
		p.line(6, p.paint(term.Broken, "✗ "), oneLine(x.Error, longest))
	}
}

// resent counts the times that requests of a test were sent again, because
// the server asked to (HTTP 429 and 503).
func resent(c *result.Case) (n int) {
	for i := range c.Exchanges {
		if h := c.Exchanges[i].HTTP; h != nil && h.Attempts > 1 {
			n += h.Attempts - 1
		}
	}
	return n
}

// times says how often: once, 2 times.
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return display.Count(n, "time")
}
