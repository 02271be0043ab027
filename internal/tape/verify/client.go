package verify

import (
	"context"
	"slices"
	"sync"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
	"mcptest/internal/tape/cassette"
)

// client answers requests of the server as the recorded client did.
type client struct {
	recorded *cassette.RecordedClient

	mu      sync.Mutex
	used    map[int]bool   // of recorded.Asked
	count   map[string]int // requests of the server by method
	asked   []asked        // these requests
	changed chan struct{}  // closed and replaced at each request
}

// hasAskedAfter reports whether the recorded server made requests between a call and the
// next one.
func (c *client) hasAskedAfter(call *cassette.Call) bool {
	return slices.ContainsFunc(c.recorded.Asked, func(a cassette.Asked) bool { return a.Idle && a.Call == call })
}

// await waits until the server has sent the recorded requests that precede the end of a
// call (all if until is nil). It waits only once for a request that the server never sends.
// The result is how long the recorded client waited after its last response.
func (c *client) await(ctx context.Context, until *cassette.Call) (pause time.Duration) {
	want := map[string]int{}
	for _, asked := range c.recorded.Asked {
		want[asked.Method]++
		pause = asked.Next - asked.Answered
		if asked.Call == until {
			break
		}
	}
	for {
		c.mu.Lock()
		missing, changed := false, c.changed
		for method, n := range want {
			missing = missing || c.count[method] < n
			if ctx.Err() != nil {
				c.count[method] = max(c.count[method], n)
			}
		}
		c.mu.Unlock()
		if !missing || ctx.Err() != nil {
			return pause
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// answer implements mcp.Answerer: the next recorded answer to the same request, or else
// to a request of the same method, or else the last one again.
func (c *client) answer(_ context.Context, method string, params []byte) ([]byte, *protocol.RPCError) {
	live, _ := jsonv.Parse(params)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count[method]++
	if isQuestion(method) {
		c.asked = append(c.asked, asked{method: method, params: live})
	}
	close(c.changed)
	c.changed = make(chan struct{})
	best, rank := -1, 0
	for i, asked := range c.recorded.Asked {
		n := 1
		switch {
		case asked.Method != method:
			continue
		case !c.used[i] && jsonv.Equal(dropMeta(asked.Params), dropMeta(live)):
			n = 3
		case !c.used[i]:
			n = 2
		}
		if n > rank || n == 1 && rank == 1 {
			best, rank = i, n
		}
	}
	if best < 0 {
		return nil, &protocol.RPCError{Code: protocol.CodeMethodNotFound, Message: "the recorded client has not responded to " + method}
	}
	c.used[best] = true
	asked := c.recorded.Asked[best]
	if !asked.Error.IsAbsent() {
		return nil, protocol.ParseRPCError(asked.Error.Append(nil))
	}
	return asked.Result.Append(nil), nil
}
