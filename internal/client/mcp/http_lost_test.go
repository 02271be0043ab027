package mcp_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"mcptest/internal/base/testkit"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/wire"
)

// A session that is gone is begun anew once, for any body of the 404,
// and where a 400 says so.
func TestHTTPSessionLost(t *testing.T) {
	for _, tt := range []struct {
		name, media string
		status      int
		body        string // $ID is that of the request
		renewed     bool
	}{
		{"404 with text", "text/plain", 404, "session not found", true},
		{"404 without a body", "", 404, "", true},
		{"404 with the id null", "application/json", 404, `{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}`, true},
		{"404 with the id of the request", "application/json", 404, `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32001,"message":"Session not found"}}`, true},
		{"404 with the id of the request, not said to be JSON", "", 404, `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32600,"message":"gone"}}`, true},
		{"404 of an unknown method", "application/json", 404, `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32601,"message":"Method not found"}}`, false},
		{"400 of a server that was started again", "application/json", 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}`, true},
		{"400 with the id of the request", "application/json", 400, `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32000,"message":"Invalid session ID"}}`, true},
		{"400 with text", "text/html; charset=utf-8", 400, "Invalid or missing session ID", true},
		{"400 of another kind", "application/json", 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Bad Request"}}`, false},
	} {
		t.Run(tt.name, func(t *testing.T) { loseSession(t, tt.media, tt.status, tt.body, tt.renewed) })
	}
}

func loseSession(t *testing.T, media string, status int, body string, renewed bool) {
	var mu sync.Mutex
	var initialized, calls int
	valid := ""
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.Method != http.MethodPost {
			w.WriteHeader(405)
			return
		}
		m := readRPC(r)
		if m.Method == "initialize" {
			initialized++
			valid = fmt.Sprint("s-", initialized)
			w.Header().Set("Mcp-Session-Id", valid)
			answerJSON(w, m.ID, helloResult)
			return
		}
		switch {
		case r.Header.Get("Mcp-Session-Id") != valid:
			w.Header().Set("Content-Type", media)
			w.WriteHeader(status)
			fmt.Fprint(w, strings.ReplaceAll(body, "$ID", string(m.ID)))
		case m.Method == "forget":
			valid = "none"
			fallthrough
		default:
			if m.ID == nil {
				w.WriteHeader(202)
				return
			}
			calls++
			answerJSON(w, m.ID, `{}`)
		}
	}))
	defer srv.Close()
	s := mustOpen(t, srv.URL)
	for range 2 {
		if x := s.Do(within(t, time.Minute), mcp.Call{Method: "forget"}); x.Cause != nil {
			t.Fatal(x.Cause)
		}
		x := s.Do(within(t, time.Minute), mcp.Call{Method: "tools/call"})
		var lost *wire.SessionLostError
		if !renewed {
			mu.Lock()
			defer mu.Unlock()
			if errors.As(x.Cause, &lost) {
				t.Errorf("cause %v", x.Cause)
			}
			testkit.Equal(t, "the number of handshakes", initialized, 1)
			return
		}
		if !errors.As(x.Cause, &lost) || x.HTTP == nil {
			t.Fatalf("cause %v, HTTP %+v", x.Cause, x.HTTP)
		}
		testkit.Equal(t, "whether the session was renewed", lost.Renewed, true)
		testkit.Equal(t, "the HTTP status", x.HTTP.Status, status)
		testkit.Equal(t, "that other clients do not", strings.Contains(lost.Error(), "clients do after HTTP 404 only"), status != http.StatusNotFound)
		if x := s.Do(within(t, time.Minute), mcp.Call{Method: "tools/call"}); x.Cause != nil {
			t.Fatal(x.Cause)
		}
	}
	if initialized != 3 || calls != 4 {
		t.Errorf("initialized %d times, %d calls", initialized, calls)
	}
}
