package mcp

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mcptest/internal/base/testkit"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
)

// What a server did while it was asked for its era is reported when the second
// start shows nothing of it.
func TestSecondStartRecallsTheFirst(t *testing.T) {
	first := &wire.OpenError{
		Phase: "initialize", Cause: &wire.ClosedError{Reason: "the server closed its standard output"},
		LastLine: "Listening", StderrTail: []string{"oops"}, Violations: []protocol.Violation{{Kind: protocol.StrayOutput, Excerpt: "Listening"}},
	}
	second := &wire.OpenError{Phase: "initialize", Cause: &TimeoutError{Method: "initialize", After: 4 * time.Second, Limit: "connect_timeout 4s"}}
	addFirst(second, first)
	const want = "initialize timed out after 4s (limit: connect_timeout 4s); when it was started first, the server closed its standard output"
	if got := second.Cause.Error(); got != want {
		t.Errorf("cause %q, want %q", got, want)
	}
	testkit.Equal(t, "the recalled violations", second.Violations, first.Violations)
	testkit.Equal(t, "the recalled output", append(second.StderrTail, second.LastLine), []string{"oops", "Listening"})
	own := &wire.OpenError{Cause: io.EOF, LastLine: "mine", StderrTail: []string{"mine"}, Violations: []protocol.Violation{{Kind: protocol.BadJSONRPC}}}
	kept := *own
	addFirst(own, first)
	kept.Cause = own.Cause // an error that names both starts
	testkit.Equal(t, "what the second start showed", *own, kept)
}

// A handshake whose last message is not taken names the limit.
func TestInitializedTimesOut(t *testing.T) {
	t.Parallel()
	var reached atomic.Bool
	done := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), methodInitialized) {
			reached.Store(true)
			<-done
			return
		}
		_, id, _ := strings.Cut(string(body), `"id":`)
		id, _, _ = strings.Cut(id, ",")
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`+id+`,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"f","version":"1"}}}`)
	}))
	defer srv.Close()
	defer close(done)
	tr, err := wire.NewHTTP(srv.URL, wire.HTTPOptions{Kind: wire.StreamableHTTP})
	if err != nil {
		t.Fatal(err)
	}
	_, err = Open(context.Background(), tr, Options{Protocol: "2025-06-18", ConnectTimeout: time.Second})
	if err == nil || !strings.Contains(err.Error(), "timed out after 1s (limit: connect_timeout 1s)") {
		t.Fatalf("got %v", err)
	}
	if reached.Load() && !strings.Contains(err.Error(), methodInitialized+" timed out") {
		t.Errorf("what timed out is not said: %v", err)
	}
}
