package mcp_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"mcptest/internal/client/mcp"
	"mcptest/internal/client/wire"
)

// delayedGet is a server with sessions that sends a request over the stream of
// the session during a call, and completes the call when that gets a response. What it
// sends while there is no stream is lost. Before a GET reaches it, a proxy in
// front of it does what hold does.
func delayedGet(t *testing.T, hold func(r *http.Request)) *httptest.Server {
	t.Helper()
	var mu sync.Mutex
	var stream http.ResponseWriter
	pong := make(chan struct{}, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			hold(r)
			w.Header().Set("Content-Type", "text/event-stream")
			mu.Lock()
			stream = w
			w.(http.Flusher).Flush()
			mu.Unlock()
			<-r.Context().Done()
			mu.Lock()
			stream = nil
			mu.Unlock()
			return
		}
		m := readRPC(r)
		switch m.Method {
		case "initialize":
			w.Header().Set("Mcp-Session-Id", "s-1")
			answerJSON(w, m.ID, helloResult)
		case "tools/call":
			mu.Lock()
			if stream != nil {
				io.WriteString(stream, event(`{"jsonrpc":"2.0","id":"p","method":"ping"}`))
				stream.(http.Flusher).Flush()
			}
			mu.Unlock()
			select {
			case <-pong:
				answerJSON(w, m.ID, `{"content":[]}`)
			case <-r.Context().Done():
			}
		default:
			if m.Method == "" && len(m.ID) > 0 {
				pong <- struct{}{}
			}
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	t.Cleanup(srv.Close)
	return srv
}

// What a server sends during the first call is not lost because the stream of
// the session came later than the call.
func TestFirstCallWaitsForTheStream(t *testing.T) {
	t.Parallel()
	srv := delayedGet(t, func(*http.Request) { time.Sleep(300 * time.Millisecond) })
	s, err := openHTTP(t, srv.URL, wire.HTTPOptions{}, mcp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if x := s.Do(within(t, time.Minute), mcp.Call{Method: "tools/call"}); x.Cause != nil {
		t.Error(x.Cause)
	}
}

// A stream that gets no response holds a session up for two seconds at most.
func TestStreamThatNeverComes(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{})
	srv := delayedGet(t, func(r *http.Request) {
		select {
		case <-gone:
		case <-r.Context().Done():
		}
	})
	t.Cleanup(func() { close(gone) })
	s, err := openHTTP(t, srv.URL, wire.HTTPOptions{}, mcp.Options{ConnectTimeout: 30 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Notify(context.Background(), "notifications/progress", nil); err != nil {
		t.Error(err)
	}
}
