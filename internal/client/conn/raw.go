package conn

import (
	"bytes"
	"context"

	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
)

// SendRaw sends bytes unchanged, as one line (with one line end, even if raw has
// one), and waits for the first response: one with the id that raw seems to contain,
// or one that no other call waits for. A JSON-RPC error with the id null is a valid
// response to bytes that cannot be parsed.
func (c *Conn) SendRaw(ctx context.Context, raw []byte) *Exchange {
	raw = bytes.Clone(bytes.TrimSuffix(bytes.TrimSuffix(raw, []byte("\n")), []byte("\r")))
	x := &Exchange{Method: "raw", Request: raw}
	k := c.state.calls.newCall(x)
	k.raw = &rawCall{batch: len(protocol.TrimSpace(raw)) > 0 && protocol.TrimSpace(raw)[0] == '['}
	sc := protocol.NewScanner()
	if sc.Scan(raw) == nil {
		if sc.Has&protocol.HasID != 0 {
			k.raw.id = bytes.Clone(sc.ID)
			x.ID = string(sc.ID)
		}
		if m := protocol.TextOf(sc.Method); m != "" {
			x.Method = m
		}
	}
	if x.Cause = c.state.begin(k); x.Cause != nil {
		c.state.calls.release(k)
		return x
	}
	out := wire.Outgoing{
		Raw:      raw,
		Method:   protocol.TextOf(sc.Method),
		ID:       x.ID,
		Protocol: c.Version().Name,
		Stream:   k.raw.stream,
	}
	if err := c.write(ctx, k, out); err != nil {
		c.notSent(ctx, k, err)
	} else {
		c.awaitAnswer(ctx, k, Call{})
	}
	c.state.calls.release(k)
	return x
}
