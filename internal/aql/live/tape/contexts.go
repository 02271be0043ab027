package tape

import (
	"context"
	"errors"
	"sync"
	"time"

	"mcptest/internal/mcp"
)

// contexts are those of a run. They end with an event only, before it or during
// it, so that it is known where.
type contexts struct {
	mu   sync.Mutex
	list []*tied
	busy bool // an event is going on
	ends []end
}

type tied struct {
	parent context.Context
	cancel context.CancelCauseFunc
	due    bool
}

// end is the end of a context, before an event or during it.
type end struct {
	Context int    `json:"context"` // 0 is the run itself
	Before  bool   `json:"before,omitempty"`
	Says    string `json:"says"`
	Limit   string `json:"limit,omitempty"` // the option that ended it
	For     string `json:"for,omitempty"`
}

// add returns a context; follow says that it ends with its parent.
func (c *contexts) add(parent context.Context, follow bool) context.Context {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(parent))
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.list)
	c.list = append(c.list, &tied{parent: parent, cancel: cancel})
	if follow {
		context.AfterFunc(parent, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			if c.list[n].due = true; c.busy {
				c.endDue(false)
			}
		})
	}
	return ctx
}

// endDue ends the contexts whose parents have ended. The caller holds mu.
func (c *contexts) endDue(before bool) {
	for n, one := range c.list {
		if !one.due {
			continue
		}
		cause := context.Cause(one.parent)
		e := end{Context: n, Before: before, Says: cause.Error()}
		var limit *mcp.Limit
		if errors.As(cause, &limit) {
			e.Limit, e.For = limit.Name, limit.For.String()
		}
		c.ends = append(c.ends, e)
		one.due = false
		one.cancel(cause)
	}
}

// begin begins an event.
func (c *contexts) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endDue(true)
	c.busy = true
}

// over ends an event, and returns the contexts that ended with it.
func (c *contexts) over() []end {
	c.mu.Lock()
	defer c.mu.Unlock()
	ends := c.ends
	c.ends, c.busy = nil, false
	return ends
}

// end ends the contexts that ended before or during a recorded event.
func (c *contexts) end(ends []end, before bool) {
	for _, e := range ends {
		if e.Before != before || e.Context < 0 || e.Context >= len(c.list) {
			continue
		}
		cause := errors.New(e.Says)
		if d, err := time.ParseDuration(e.For); err == nil && e.Limit != "" {
			cause = &mcp.Limit{Name: e.Limit, For: d}
		}
		c.list[e.Context].cancel(cause)
	}
}

// cancel ends all contexts.
func (c *contexts) cancel(cause error) {
	for _, one := range c.list {
		one.cancel(cause)
	}
}
