package tape

import (
	"context"
	"errors"
	"time"

	"mcptest/internal/mcp"
)

// contexts are the contexts of a run. They end only before or during an event, so
// that the moment can be recorded.
type contexts []*tied

type tied struct {
	parent context.Context // nil: it has ended
	cancel context.CancelCauseFunc
}

// end is the end of a context, before an event or during it.
type end struct {
	Context int    `json:"context"` // 0 is the run's own context
	Before  bool   `json:"before,omitempty"`
	Says    string `json:"says"`
	Limit   string `json:"limit,omitempty"` // the option whose limit ended it
	For     string `json:"for,omitempty"`
}

// add returns a context.
func (c *contexts) add(parent context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(parent))
	*c = append(*c, &tied{parent, cancel})
	return ctx
}

// during runs an event and returns the contexts that ended before or during it.
func (c contexts) during(do func()) (ends []end) {
	ended := func(n int, before bool) {
		cause := context.Cause(c[n].parent)
		e := end{Context: n, Before: before, Says: cause.Error()}
		var limit *mcp.Limit
		if errors.As(cause, &limit) {
			e.Limit, e.For = limit.Name, limit.For.String()
		}
		c[n].parent = nil
		c[n].cancel(cause)
		ends = append(ends, e)
	}
	stops := map[int]func() bool{}
	for n, one := range c {
		switch parent := one.parent; {
		case parent == nil:
		case parent.Err() != nil:
			ended(n, true)
		default:
			stops[n] = context.AfterFunc(parent, func() { one.cancel(context.Cause(parent)) })
		}
	}
	do()
	for n, stop := range stops {
		if !stop() {
			ended(n, false)
		}
	}
	return ends
}

// replay ends the contexts that ended before or during a recorded event.
func (c contexts) replay(ends []end, before bool) {
	for _, e := range ends {
		if e.Before != before || e.Context < 0 || e.Context >= len(c) {
			continue
		}
		cause := errors.New(e.Says)
		if d, err := time.ParseDuration(e.For); err == nil && e.Limit != "" {
			cause = &mcp.Limit{Name: e.Limit, For: d}
		}
		c[e.Context].cancel(cause)
	}
}
