package inspect

import (
	"context"
	"fmt"

	"mcptest/internal/display"
	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
	"mcptest/internal/mcp/protocol"
	"mcptest/internal/surface"
)

// Again says how often Readings reads the lists of a server.
type Again struct {
	Sessions   int  // at least 1
	AfterCalls bool // also after calls
}

// maxCalls bounds the calls of Readings.
const maxCalls = 20

// Readings reads all lists of the server several times: twice in the first
// session, once in each further one, and after calls in the last. Only tools
// that are declared to read only, and require no arguments, are called. see gets
// the first reading, which has no name, and each that should equal it. A reading after a
// list_changed notification of its session is not passed on; in a stateless
// protocol version, only subscribers are notified.
func (c *Conn) Readings(ctx context.Context, o Again, see func(name string, offer *surface.Offer)) error {
	mark := c.session.Mark()
	first, err := c.Complete(ctx)
	if err != nil {
		return err
	}
	see("", first)
	if err := c.unannounced(ctx, mark, "the second time in a session", see); err != nil {
		return err
	}
	for i := 2; i <= o.Sessions; i++ {
		c.ReportRemaining()
		c.Close()
		if err := c.Open(ctx); err != nil {
			return err
		}
		mark = c.session.Mark()
		offer, err := c.Complete(ctx)
		if err != nil {
			return err
		}
		see(fmt.Sprintf("in session %d", i), offer)
	}
	if !o.AfterCalls {
		return nil
	}
	calls := 0
	for _, tool := range first.Lists[surface.Tool] {
		if harmless(tool) && calls < maxCalls {
			calls++ // whether it succeeds does not matter
			c.Do(ctx, "tools/call", jsonv.ObjectOf("name", tool.Lookup("name"), "arguments", jsonv.Object()))
		}
	}
	name := "after " + display.Count(calls, "call") + ", without list_changed"
	if c.session.Era() == protocol.EraStateless {
		name = fmt.Sprintf("after %s (%s notifies only subscribers)", display.Count(calls, "call"), c.session.Protocol())
	}
	return c.unannounced(ctx, mark, name, see)
}

// unannounced passes a reading on, unless the server announced a change.
func (c *Conn) unannounced(ctx context.Context, since mcp.Mark, name string, see func(string, *surface.Offer)) error {
	offer, err := c.Complete(ctx)
	if err == nil && !c.session.ListChanged(since) {
		see(name, offer)
	}
	return err
}

// Complete reads every list that the server offers; one that can't be read is an error.
func (c *Conn) Complete(ctx context.Context) (*surface.Offer, error) {
	limits := c.o.Connect.Limits.WithDefaults()
	offer, err := surface.Fetch(ctx, c.session.ServerInfo(), surface.Limits{Items: limits.Items, Pages: limits.Pages}, c.Result)
	if err != nil {
		return nil, err
	}
	for _, list := range surface.Lists() {
		if err := offer.Failed[list.Kind]; err != nil {
			return nil, err
		}
	}
	return offer, nil
}

// harmless reports whether a tool is declared to read only, and can be called
// without arguments.
func harmless(tool jsonv.Value) bool {
	hint := func(name string) bool { return jsonv.Equal(tool.Lookup("annotations", name), jsonv.Bool(true)) }
	return hint("readOnlyHint") && !hint("destructiveHint") && tool.Lookup("inputSchema", "required").Len() == 0
}
