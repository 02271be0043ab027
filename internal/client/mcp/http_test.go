package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mcptest/internal/base/testkit"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/wire"
)

// rpc is a message as a test server sees it.
type rpc struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
}

func readRPC(r *http.Request) rpc {
	var m rpc
	b, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(b, &m)
	return m
}

func answerJSON(w http.ResponseWriter, id json.RawMessage, result string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

// web is a small Streamable HTTP server: it shakes hands, and call does the
// rest.
func web(t testing.TB, call func(w http.ResponseWriter, r *http.Request, m rpc)) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		m := readRPC(r)
		switch m.Method {
		case "initialize":
			w.Header().Set("Mcp-Session-Id", "s-1")
			answerJSON(w, m.ID, helloResult)
		case "notifications/initialized", "notifications/cancelled":
			w.WriteHeader(http.StatusAccepted)
		default:
			call(w, r, m)
		}
	}))
	t.Cleanup(srv.Close)
	return srv
}

func openHTTP(t testing.TB, url string, o wire.HTTPOptions, so mcp.Options) (*mcp.Session, error) {
	t.Helper()
	tr, err := wire.NewHTTP(url, o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := mcp.Open(context.Background(), tr, so)
	if err == nil {
		t.Cleanup(func() { s.Close(context.Background()) })
	}
	return s, err
}

func mustOpen(t testing.TB, url string) *mcp.Session {
	t.Helper()
	s, err := openHTTP(t, url, wire.HTTPOptions{}, mcp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestHTTPJSONAndHeaders(t *testing.T) {
	var seen atomic.Pointer[http.Header]
	var deleted atomic.Int32
	inner := web(t, func(w http.ResponseWriter, r *http.Request, m rpc) {
		h := r.Header.Clone()
		seen.Store(&h)
		answerJSON(w, m.ID, `{"ok":true}`)
	})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete && r.Header.Get("Mcp-Session-Id") == "s-1" {
			deleted.Add(1)
		}
		inner.Config.Handler.ServeHTTP(w, r)
	}))
	defer srv.Close()
	s, err := openHTTP(t, strings.Replace(srv.URL, "http://", "http://u:pw@", 1), wire.HTTPOptions{Header: http.Header{"X-Key": {"k"}}, UserAgent: "ua/1"}, mcp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x := s.Do(within(t, time.Minute), mcp.Call{Method: "tools/call", Params: []byte(`{"name":"a"}`), Header: http.Header{"X-Call": {"c"}}})
	testkit.Equal(t, "the call", outcomeOf(x), outcome{Result: `{"ok":true}`})
	testkit.Equal(t, "the status and the attempts", []int{x.HTTP.Status, x.HTTP.Attempts}, []int{200, 1})
	for k, want := range map[string]string{
		"Mcp-Session-Id": "s-1", "Mcp-Protocol-Version": "2025-11-25", "X-Key": "k", "X-Call": "c",
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "User-Agent": "ua/1", "Authorization": "Basic dTpwdw==",
	} {
		if got := seen.Load().Get(k); got != want {
			t.Errorf("%s: %q, want %q", k, got, want)
		}
	}
	if f := s.Facts(); f.Kind != "streamable-http" || strings.Contains(f.URL, "pw") {
		t.Errorf("%+v", f)
	}
	s.Close(context.Background())
	if deleted.Load() != 1 {
		t.Errorf("DELETE sent %d times", deleted.Load())
	}
	if x := s.Do(context.Background(), mcp.Call{Method: "ping"}); !errors.As(x.Cause, new(*wire.ClosedError)) {
		t.Errorf("after Close: %v", x.Cause)
	}
}

func TestHTTPEventStream(t *testing.T) {
	srv := web(t, func(w http.ResponseWriter, r *http.Request, m rpc) {
		w.Header().Set("Content-Type", "Text/Event-Stream; charset=utf-8")
		io.WriteString(w, "\xef\xbb\xbf: hello\r\n\r\nid: 1\r\ndata:\r\n\r\n"+
			"event: message\rdata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\rdata: \"params\":{\"level\":\"info\",\"data\":1}}\r\r"+
			"event: other\ndata: not json\n\n")
		w.(http.Flusher).Flush()
		fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\n", m.ID)
		w.(http.Flusher).Flush()
		io.WriteString(w, "data: \"result\":{}}\n\n")
	})
	s := mustOpen(t, srv.URL)
	for range 3 {
		x := s.Do(within(t, time.Minute), mcp.Call{Method: "tools/call", Params: []byte(`{"name":"a"}`)})
		testkit.Equal(t, "the call", outcomeOf(x), outcome{Result: "{}", During: "notification notifications/message"})
	}
	if v := s.TakeViolations(); len(v) > 0 {
		t.Error(v)
	}
}

// A request goes out in one write: net/http sends a body that it does not know
// to be in memory behind its header, in a write of its own, which costs a fifth
// of a call.
func TestOneWrite(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	first := make(chan string, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		b := make([]byte, 64<<10)
		n, _ := c.Read(b)
		first <- string(b[:n])
	}()
	tr, err := wire.NewHTTP("http://"+l.Addr().String(), wire.HTTPOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = mcp.Open(within(t, time.Minute), tr, mcp.Options{Protocol: "2025-11-25"})
	if got := <-first; !strings.Contains(got, "POST / HTTP/1.1") || !strings.Contains(got, `"method":"initialize"`) {
		t.Errorf("the first write is %q, want header and body", got)
	}
}

// The objects that a call makes, in addition to those of a bare client that posts the
// same: the Exchange with what is kept of it, a context, little else.
func TestAllocationsOfACall(t *testing.T) {
	srv := web(t, func(w http.ResponseWriter, _ *http.Request, m rpc) {
		answerJSON(w, m.ID, `{"content":[{"type":"text","text":"hello"}]}`)
	})
	s := mustOpen(t, srv.URL)
	c := &http.Client{Transport: &http.Transport{}}
	defer c.CloseIdleConnections()
	params := []byte(`{"name":"echo","arguments":{"text":"hello"}}`)
	ours := testing.AllocsPerRun(200, func() {
		if x := s.Do(context.Background(), mcp.Call{Method: "tools/call", Params: params}); x.Cause != nil {
			t.Fatal(x.Cause)
		}
	})
	bare := testing.AllocsPerRun(200, func() {
		body := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`, 7, params)
		req, _ := http.NewRequestWithContext(context.Background(), http.MethodPost, srv.URL, bytes.NewReader(body))
		req.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Session-Id": {"s-1"}, "Mcp-Protocol-Version": {"2025-11-25"}}
		resp, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	})
	t.Logf("%.0f objects a call, a bare client makes %.0f", ours, bare)
	if ours > bare+15 {
		t.Errorf("%.0f objects a call, a bare client makes %.0f: want 15 more at most", ours, bare)
	}
}
