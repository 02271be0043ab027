package conn

import (
	"context"
	"sync"
	"time"

	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
)

// responder answers requests of the server, each on its own goroutine.
type responder struct {
	ctx   context.Context // of the connection
	wg    *sync.WaitGroup // its goroutines
	send  func(context.Context, wire.Outgoing) error
	state *state

	// Guarded by the lock of the state.
	byID    map[string]context.CancelFunc // being answered
	sending int                           // responses that are being written
}

// isBusy reports whether a request with the id is being answered, and whether the limit
// of concurrent responses is reached. The caller holds the lock of the state, here and
// in start and cancel.
//
// A server that reads no response may not make this program hold any number of them. It may
// have read one whose writer has not noticed it yet, so twice the limit may be in writing.
func (a *responder) isBusy(id string) (same, full bool) {
	most := a.state.limits.Requests
	return a.byID[id] != nil, len(a.byID) >= most || a.sending >= 2*most
}

// start starts answering a request; to are the calls it belongs to.
func (a *responder) start(m Message, answer Answerer, to []int64) {
	ctx, cancel := context.WithCancel(a.ctx)
	a.byID[m.ID] = cancel
	a.wg.Go(func() {
		defer cancel()
		a.reply(ctx, m, answer, to)
	})
}

// reply gets the response to a request of the server, records it and sends it.
func (a *responder) reply(ctx context.Context, m Message, answer Answerer, to []int64) {
	var result []byte
	var rpcErr *protocol.RPCError
	switch {
	case m.Method == "ping":
		result = []byte("{}")
	case answer != nil:
		result, rpcErr = answer(ctx, m.Method, m.Params)
	}
	if result == nil && rpcErr == nil {
		rpcErr = &protocol.RPCError{Code: protocol.CodeMethodNotFound, Message: "Method not found"}
	}
	raw, at := protocol.AppendResponse(nil, []byte(m.ID), result, rpcErr)
	own := Message{
		Frame:  wire.Frame{Dir: wire.ToServer, At: time.Now(), Raw: raw, Stream: m.Stream},
		Kind:   KindResponse,
		Method: m.Method,
		ID:     m.ID,
		Params: raw[at : len(raw)-1],
		Shared: m.Shared,
	}
	a.state.mu.Lock()
	delete(a.byID, m.ID)
	if ctx.Err() != nil {
		a.state.mu.Unlock()
		return
	}
	for _, id := range to {
		if k := a.state.calls.find(id); k != nil {
			k.keep(own, &a.state.limits)
		}
	}
	a.state.journal.add(own)
	a.sending++
	a.state.mu.Unlock()
	err := a.send(ctx, wire.Outgoing{Raw: raw, ID: m.ID, Protocol: a.state.agreedVersion().Name}) // if the server does not read it, it will end
	a.state.mu.Lock()
	a.sending--
	a.state.mu.Unlock()
	if err != nil && ctx.Err() == nil {
		a.state.side.Add(wire.SideSent, "the response to "+m.Method+" was not accepted: "+err.Error())
	}
}

// cancel cancels the response to a request that the server has canceled.
func (a *responder) cancel(id string) {
	if cancel := a.byID[id]; cancel != nil {
		cancel()
	}
}
