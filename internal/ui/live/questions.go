package live

import (
	"context"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
)

// Asks returns the requests of servers that wait for a person.
func (h *Hub) Asks() []Ask { return h.asks.list() }

// answer waits until a person answers a request of a server.
func (h *Hub) answer(ctx context.Context, s *Server, method string, params []byte) ([]byte, *protocol.RPCError) {
	if !askable(method) {
		return nil, nil
	}
	v, _ := jsonv.Parse(params) // absent: there are none
	one := &Ask{Server: s.ID, Method: method, Params: v}
	s.mu.Lock()
	if s.running != nil {
		one.Call = s.running.ID
	}
	s.mu.Unlock()
	return h.asks.wait(ctx, one, h.touch)
}

// Answer answers a request of a server with a result, or refuses it if that is absent.
func (h *Hub) Answer(id int, result jsonv.Value) error {
	one := h.asks.take(id)
	if one == nil {
		return refuse("the server no longer waits for this answer")
	}
	if result.IsAbsent() {
		one.reply <- reply{err: &protocol.RPCError{Code: -1, Message: "User rejected the request"}}
	} else {
		one.reply <- reply{result: result.Append(nil)}
	}
	h.touch()
	return nil
}
