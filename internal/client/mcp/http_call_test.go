package mcp_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/testkit"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
)

func TestHTTPConnectionRefused(t *testing.T) {
	_, err := openHTTP(t, "http://127.0.0.1:1/mcp", wire.HTTPOptions{}, mcp.Options{Protocol: mcp.Auto})
	if err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Error(err)
	}
	srv := httptest.NewTLSServer(http.NotFoundHandler())
	defer srv.Close()
	if _, err = openHTTP(t, srv.URL, wire.HTTPOptions{}, mcp.Options{Protocol: mcp.Auto}); err == nil || !strings.Contains(err.Error(), "tls.ca_file") {
		t.Error(err)
	}
	if _, err = wire.NewHTTP("ftp://x", wire.HTTPOptions{}); err == nil {
		t.Error("ftp is no address")
	}
}

// The server asks on its own stream, and on that of a call.
func TestHTTPServerRequests(t *testing.T) {
	answers := make(chan string, 4)
	ready := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			sse(w, event(`{"jsonrpc":"2.0","id":"s1","method":"roots/list"}`))
			close(ready)
			<-r.Context().Done()
			return
		}
		if r.Method == http.MethodDelete {
			return
		}
		b, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(b))
		m := readRPC(r)
		switch {
		case m.Method == "initialize":
			w.Header().Set("Mcp-Session-Id", "s")
			answerJSON(w, m.ID, helloResult)
		case m.Method == "":
			answers <- string(b)
			w.WriteHeader(202)
		case m.ID == nil:
			w.WriteHeader(202)
		default:
			sse(w, event(`{"jsonrpc":"2.0","id":77,"method":"elicitation/create","params":{}}`))
			<-answers
			sse(w, event(result(string(m.ID), "{}")))
		}
	}))
	defer srv.Close()
	declared := jsonv.ObjectOf("roots", jsonv.Object(), "elicitation", jsonv.Object())
	s, err := openHTTP(t, srv.URL, wire.HTTPOptions{}, mcp.Options{Capabilities: declared, Answer: func(_ context.Context, method string, _ []byte) ([]byte, *protocol.RPCError) {
		return []byte(`{"for":"` + method + `"}`), nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(context.Background())
	<-ready
	if got := <-answers; got != `{"jsonrpc":"2.0","id":"s1","result":{"for":"roots/list"}}` {
		t.Error(got)
	}
	x := s.Do(within(t, time.Minute), mcp.Call{Method: "tools/call"})
	testkit.Equal(t, "the call", outcomeOf(x), outcome{Result: "{}", During: "request elicitation/create, answer elicitation/create"})
}

func TestHTTPCancel(t *testing.T) {
	t.Parallel()
	cancelled := make(chan string, 1)
	gone := make(chan struct{}, 2)
	hang := func(w http.ResponseWriter, r *http.Request, m rpc) {
		sse(w, ":\n\n")
		<-r.Context().Done()
		gone <- struct{}{}
	}
	inner := web(t, hang)
	legacy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(b))
		if strings.Contains(string(b), "notifications/cancelled") {
			cancelled <- string(b)
		}
		inner.Config.Handler.ServeHTTP(w, r)
	}))
	defer legacy.Close()
	s := mustOpen(t, legacy.URL)
	x := s.Do(within(t, time.Minute), mcp.Call{Method: "tools/call", CancelAfter: 2 * time.Second})
	if !errors.As(x.Cause, new(*mcp.CancelledError)) {
		t.Error(x.Cause)
	}
	if got := <-cancelled; !strings.Contains(got, `"requestId":`+x.ID) {
		t.Error(got)
	}
	<-gone
	s = openModern(t, modernWeb(t, func(w http.ResponseWriter, r *http.Request, m rpc) {
		if m.Method != "tools/call" {
			t.Errorf("%s was sent", m.Method)
		}
		hang(w, r, m)
	}).URL, mcp.Options{})
	x = s.Do(within(t, time.Minute), mcp.Call{Method: "tools/call", CancelAfter: 2 * time.Second})
	if !errors.As(x.Cause, new(*mcp.CancelledError)) {
		t.Error(x.Cause)
	}
	<-gone // the stream was closed, which is how such a server learns it
}
