package verify

import (
	"context"
	"sync"

	"mcptest/internal/cassette"
	"mcptest/internal/jsonv"
	"mcptest/internal/mcp/protocol"
)

// client answers requests of the server as the recorded client did.
type client struct {
	recorded *cassette.RecordedClient

	mu   sync.Mutex
	used map[int]bool // of recorded.Asked
}

// answer implements mcp.Answerer: the next recorded answer to the same request, or else
// to a request of the same method, or else the last one again.
func (c *client) answer(_ context.Context, method string, params []byte) ([]byte, *protocol.RPCError) {
	live, _ := jsonv.Parse(params)
	c.mu.Lock()
	defer c.mu.Unlock()
	best, rank := -1, 0
	for i, asked := range c.recorded.Asked {
		n := 1
		switch {
		case asked.Method != method:
			continue
		case !c.used[i] && jsonv.Equal(bare(asked.Params), bare(live)):
			n = 3
		case !c.used[i]:
			n = 2
		}
		if n > rank || n == 1 && rank == 1 {
			best, rank = i, n
		}
	}
	if best < 0 {
		return nil, &protocol.RPCError{Code: protocol.CodeMethodNotFound, Message: "the recorded client has not answered " + method}
	}
	c.used[best] = true
	asked := c.recorded.Asked[best]
	if !asked.Error.IsAbsent() {
		return nil, protocol.ParseRPCError(asked.Error.Append(nil))
	}
	return asked.Result.Append(nil), nil
}

// bare returns parameters without what differs each time.
func bare(params jsonv.Value) jsonv.Value {
	if params.Kind() != jsonv.KindObject {
		return jsonv.Object()
	}
	return params.Without("_meta")
}
