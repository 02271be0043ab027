package conn

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
)

// unread is a transport to a server that reads nothing.
type unread struct{ inert }

func (*unread) Send(ctx context.Context, _ wire.Outgoing) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

// A server that asks endlessly and reads no response once had a goroutine for each of its
// requests: the run needed 60 to 98 MiB for 20,000 of them.
func TestUnreadResponsesAreLimited(t *testing.T) {
	const limit, asked = 8, 2000
	before := runtime.NumGoroutine()
	c := New(&unread{}, Options{Limits: wire.Limits{Requests: limit}})
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.stop()
	refused := 0
	for i := range asked {
		line := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":"q%d","method":"roots/list"}`, i)
		c.in.OnFrame(wire.Frame{Dir: wire.FromServer, Raw: line, At: time.Now()})
		for _, v := range c.TakeViolations() {
			if v.Kind == protocol.Flood {
				refused++
			}
		}
		runtime.Gosched()
	}
	if n := runtime.NumGoroutine() - before; n > 4*limit {
		t.Errorf("%d goroutines hold responses that no one reads", n)
	}
	if refused == 0 {
		t.Error("no request was refused")
	}
}
