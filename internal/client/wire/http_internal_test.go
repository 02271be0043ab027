package wire

import (
	"context"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"mcptest/internal/base/testkit"
)

// Node.js, uvicorn and Apache close a connection that was idle for five seconds. A POST
// that is sent as this happens gets no response, and must not be repeated.
func TestPostDoesNotUseAConnectionThatTheServerMayClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		transport, err := NewHTTP("http://localhost/mcp", HTTPOptions{})
		if err != nil {
			t.Fatal(err)
		}
		accepted := make(testkit.Listener)
		dials := 0
		transport.(*HTTP).pool.DialContext = func(context.Context, string, string) (net.Conn, error) {
			dials++
			client, server := net.Pipe()
			accepted <- server
			return client, nil
		}
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) })}
		go func() { _ = server.Serve(accepted) }()
		for i, c := range []struct {
			pause time.Duration
			dials int
		}{{0, 1}, {3 * time.Second, 1}, {5 * time.Second, 2}} {
			<-time.After(c.pause)
			err := transport.Send(t.Context(), Outgoing{Raw: []byte(`{"jsonrpc":"2.0","method":"n"}`), Method: "n"})
			if err != nil || dials != c.dials {
				t.Errorf("message %d, after %s: %d connections, expected %d (%v)", i+1, c.pause, dials, c.dials, err)
			}
		}
		transport.Close(t.Context())
		close(accepted)
		_ = server.Close()
	})
}
