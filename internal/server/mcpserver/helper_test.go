package mcpserver_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"mcptest/internal/client/mcp"
	"mcptest/internal/client/wire"
	"mcptest/internal/server/mcpserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const helloResult = `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"f","version":"1"}}`

// handled opens a session with a server made of a handler.
func handled(t testing.TB, o mcp.Options, h mcpserver.HandlerFunc) *mcp.Session {
	t.Helper()
	tr, rw := wire.NewPipe()
	done := make(chan error, 1)
	go func() {
		err := mcpserver.ServeStdio(context.Background(), rw, rw, mcpserver.HandlerFunc(func(ctx context.Context, r *mcpserver.Request) *mcpserver.Reply {
			if r.Method == "initialize" {
				return &mcpserver.Reply{Result: []byte(helloResult)}
			}
			return h(ctx, r)
		}))
		rw.Close()
		done <- err
	}()
	s, err := mcp.Open(context.Background(), tr, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close(context.Background())
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s
}

func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := mcp.WithLimit(context.Background(), "timeout", d)
	t.Cleanup(cancel)
	return ctx
}

// methods lists the messages of an exchange.
func methods(ms []mcp.Message) string {
	var out []string
	for _, m := range ms {
		out = append(out, m.Kind.String()+" "+m.Method)
	}
	return strings.Join(out, ", ")
}

// openHTTP opens a session over HTTP that ends with the test.
func openHTTP(t testing.TB, url string, so mcp.Options) *mcp.Session {
	t.Helper()
	tr, err := wire.NewHTTP(url, wire.HTTPOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := mcp.Open(context.Background(), tr, so)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(context.Background()) })
	return s
}
