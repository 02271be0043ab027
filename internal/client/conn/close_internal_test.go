package conn

import (
	"context"
	"testing"
	"time"

	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/process/proc"
)

// answering is a transport whose server answers the pending request while the session is
// being closed.
type answering struct {
	inert
	sink wire.Receiver
}

func (t *answering) Start(sink wire.Receiver) error {
	t.sink = sink
	return nil
}

func (t *answering) Close(context.Context) proc.Stopped {
	t.sink.OnFrame(wire.Frame{Dir: wire.FromServer, Raw: []byte(`{"jsonrpc":"2.0","id":` + idText(protocol.IDAt(1)) + `,"result":{}}`), At: time.Now()})
	t.sink.OnDrained()
	return proc.Stopped{}
}

// A response that arrives while the session closes is the first response to its request,
// not a second one.
func TestAnswerWhileClosing(t *testing.T) {
	s := New(&answering{}, Options{})
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	k := waiting(s, "tools/list")
	s.Close(t.Context())
	<-k.ready
	if v := s.TakeViolations(); len(v) > 0 {
		t.Errorf("violations: %v", v)
	}
}
