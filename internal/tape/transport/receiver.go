package transport

import "mcptest/internal/client/wire"

// wrapReceiver returns a receiver that wakes callers only after what followed their
// responses was delivered: it would otherwise belong to their next calls.
func (t *httpReplay) wrapReceiver(sink wire.Receiver) wire.Receiver {
	t.sink = sink
	return &heldReceiver{sink, t}
}

type heldReceiver struct {
	wire.Receiver
	t *httpReplay
}

// OnDrained implements [wire.Receiver].
func (r *heldReceiver) OnDrained() {
	r.t.mu.Lock()
	r.t.held = r.t.trails > 0
	held := r.t.held
	r.t.mu.Unlock()
	if !held {
		r.Receiver.OnDrained()
	}
}
