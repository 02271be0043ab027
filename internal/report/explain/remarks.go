package explain

import (
	"fmt"
	"strings"

	"mcptest/internal/display"
	"mcptest/internal/report/render"
	"mcptest/internal/result"
	"mcptest/internal/term"
)

// Resent counts the retries of requests of a test after HTTP 429 and 503.
func Resent(c *result.Case) (n int) {
	for i := range c.Exchanges {
		if h := c.Exchanges[i].HTTP; h != nil && h.Attempts > 1 {
			n += h.Attempts - 1
		}
	}
	return n
}

// times returns "once" or "2 times".
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return display.Count(n, "time")
}

// Remarks returns the remarks on the line of a test: flaky, tolerated violations, …
func Remarks(p *render.Printer, c *result.Case) string {
	var parts []string
	add := func(st term.Style, format string, args ...any) {
		parts = append(parts, p.Paint(st, fmt.Sprintf(format, args...)))
	}
	if c.Flaky {
		add(term.Warn, "flaky: passed on try %d of %d", PassedOn(c), len(c.Attempts))
	} else if len(c.Attempts) > 1 {
		add(term.Faint, "%d tries", len(c.Attempts))
	}
	if r := c.Repeat; r != nil {
		add(term.Faint, "%d of %d runs passed, %s%% needed", r.Passed, r.Times, render.Number(r.Rate*100))
	}
	if c.Score != nil {
		text := "score " + render.Number(*c.Score)
		if c.Threshold != nil {
			text += " (needs " + render.Number(*c.Threshold) + ")"
		}
		add(term.Faint, "%s", text)
	}
	for _, m := range c.DerivedMetrics {
		add(term.Faint, "%s %s", term.Escape(m.Name), render.Number(m.Value))
	}
	if c.AfterRestart {
		add(term.Warn, "after a restart of the server")
	}
	if n := Resent(c); n > 0 {
		add(term.Warn, "sent again %s: HTTP 429 or 503", times(n))
	}
	if n := Tolerated(c); n > 0 && c.Status == result.Pass {
		add(term.Warn, "%s tolerated", display.Count(n, "violation"))
	}
	if c.Implicit && c.Status == result.Pass {
		add(term.Faint, "it returned; nothing else was checked")
	}
	if len(parts) == 0 {
		return ""
	}
	return "  " + strings.Join(parts, p.Faint(", "))
}

// PassedOn returns the number of the try that passed.
func PassedOn(c *result.Case) int {
	for i, a := range c.Attempts {
		if a.Status == result.Pass {
			return i + 1
		}
	}
	return len(c.Attempts)
}

// Tolerated counts the tolerated violations of a case.
func Tolerated(c *result.Case) (n int) {
	for _, v := range c.Violations {
		if v.Tolerated {
			n++
		}
	}
	return n
}

// BeforeTests reports whether a phase runs before the tests of its file.
func BeforeTests(ph *result.Phase) bool { return ph.Phase == "beforeAll" || ph.Phase == "setup" }
