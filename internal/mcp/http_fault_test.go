package mcp_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mcptest/internal/mcp"
)

func sse(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/event-stream")
	io.WriteString(w, text)
	w.(http.Flusher).Flush()
}

func event(msg string) string { return "data: " + msg + "\n\n" }

// hijack writes raw bytes in place of an HTTP response and closes.
func hijack(w http.ResponseWriter, raw string, reset bool) {
	c, b, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	b.WriteString(raw)
	b.Flush()
	if reset {
		c.(*net.TCPConn).SetLinger(0)
	}
	c.Close()
}

// Each fault ends the call within its time, with a cause or a violation that
// names it; each oddity is a pass.
func TestHTTPFaults(t *testing.T) {
	for _, c := range []struct {
		name  string
		serve func(w http.ResponseWriter, r *http.Request, m rpc)
		cause string // part of the cause, "" for an answer
		kind  string // of the one violation
	}{
		{name: "odd: SSE with CR only", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			sse(w, ":x\r\revent:message\rid:1\rdata:"+result(string(m.ID), "{}")+"\r\r")
		}},
		{name: "odd: SSE byte by byte", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			for _, b := range []byte(event(result(string(m.ID), "{}"))) {
				sse(w, string(b))
			}
		}},
		{name: "odd: pretty JSON", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, "\n{\n  \"jsonrpc\": \"2.0\",\r\n  \"id\": %s,\n  \"result\": {\n  }\n}\n", m.ID)
		}},
		{name: "odd: gzip", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			io.WriteString(z, result(string(m.ID), "{}"))
			z.Close()
		}},
		{name: "odd: stream stays open after the answer", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			sse(w, event(result(string(m.ID), "{}")))
			<-r.Context().Done()
		}},
		{name: "odd: error status with the answer", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			w.WriteHeader(500)
			io.WriteString(w, refused(string(m.ID), -32603, ""))
		}},
		{name: "500 with a result", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(500)
			io.WriteString(w, result(string(m.ID), "{}"))
		}, cause: "HTTP 500 Internal Server Error (application/json): an answer of this status can't hold a result: {"},
		{name: "404 with a result", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			w.WriteHeader(404)
			io.WriteString(w, result(string(m.ID), "{}"))
		}, cause: "HTTP 404 Not Found (text/plain; charset=utf-8): an answer of this status can't hold a result: {"},
		{name: "401 with a result for another", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(401)
			io.WriteString(w, result("99", "{}"))
		}, cause: "HTTP 401 Unauthorized (application/json)"},
		{name: "odd: 201", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(201)
			io.WriteString(w, result(string(m.ID), "{}"))
		}},
		{name: "odd: 307 within the origin", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			if r.URL.Path != "/new" {
				w.Header().Set("Location", "/new")
				w.WriteHeader(307)
				return
			}
			answerJSON(w, m.ID, "{}")
		}},
		{name: "500 HTML", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(502)
			io.WriteString(w, "<h1>Bad\x1b[31m gateway</h1>"+strings.Repeat("x", 1<<20))
		}, cause: `HTTP 502 Bad Gateway (text/html): <h1>Bad\x1b[31m gateway`},
		{name: "401", serve: func(w http.ResponseWriter, r *http.Request, m rpc) { w.WriteHeader(401) }, cause: "HTTP 401 Unauthorized"},
		{name: "400 with an error that names no id", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(400)
			io.WriteString(w, refused("null", -32000, ""))
		}, cause: "HTTP 400 Bad Request (application/json): no (code -32000)"},
		{name: "429 without a time", serve: func(w http.ResponseWriter, r *http.Request, m rpc) { w.WriteHeader(429) }, cause: "HTTP 429 Too Many Requests"},
		{name: "202 to a request", serve: func(w http.ResponseWriter, r *http.Request, m rpc) { w.WriteHeader(202) }, cause: "the request was accepted and not answered"},
		{name: "204", serve: func(w http.ResponseWriter, r *http.Request, m rpc) { w.WriteHeader(204) }, cause: "the request was accepted and not answered"},
		{name: "empty body", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			w.Header().Set("Content-Type", "application/json")
		}, cause: "the body is empty"},
		{name: "HTML with 200", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, "<p>log in</p>")
		}, cause: "HTTP 200 OK (text/html): this is no answer: <p>log in</p>"},
		{name: "an answer as text/plain", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			w.Header().Set("Content-Type", "text/plain")
			io.WriteString(w, result(string(m.ID), "{}"))
		}, kind: mcp.ContentType},
		{name: "bad JSON", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"jsonrpc":"2.0","id":`+string(m.ID)+`,"result":{`)
		}, cause: "the answer is not valid JSON", kind: mcp.BadJSON},
		{name: "JSON that is no object", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `7`)
		}, cause: "the body does not answer the request"},
		{name: "another id", serve: func(w http.ResponseWriter, r *http.Request, m rpc) { answerJSON(w, []byte("4711"), "{}") }, cause: "the body does not answer the request"},
		{name: "id as text", serve: func(w http.ResponseWriter, r *http.Request, m rpc) { answerJSON(w, []byte(`"`+string(m.ID)+`"`), "{}") }, kind: mcp.IDType},
		{name: "length too long", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			hijack(w, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n{\"jsonrpc\"", false)
		}, cause: "the connection broke in the body"},
		{name: "reset in the body", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			hijack(w, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n{\"jsonrpc\"", true)
		}, cause: "the connection broke in the body"},
		{name: "closed without a response", serve: func(w http.ResponseWriter, r *http.Request, m rpc) { hijack(w, "", false) }, cause: "the connection was closed before an answer"},
		{name: "no HTTP", serve: func(w http.ResponseWriter, r *http.Request, m rpc) { hijack(w, "SSH-2.0-x\r\n\r\n", false) }, cause: "the answer is no HTTP"},
		{name: "broken chunk", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			hijack(w, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", false)
		}, cause: "no answer on the stream: it broke"},
		{name: "endless header", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			hijack(w, "HTTP/1.1 200 OK\r\nX: "+strings.Repeat("x", 3<<20)+"\r\n\r\n", false)
		}, cause: "server response headers exceeded"},
		{name: "redirect to another origin", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			http.Redirect(w, r, "http://other.invalid/x", http.StatusTemporaryRedirect)
		}, cause: "redirects to another origin (http://other.invalid)"},
		{name: "redirect of the scheme", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			http.Redirect(w, r, "https://"+r.Host+"/x", http.StatusPermanentRedirect)
		}, cause: "redirects to another origin"},
		{name: "redirect that makes it a GET", serve: func(w http.ResponseWriter, r *http.Request, m rpc) { http.Redirect(w, r, "/x", http.StatusFound) }, cause: "redirects a POST"},
		{name: "redirect loop", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			http.Redirect(w, r, "/x", http.StatusTemporaryRedirect)
		}, cause: "more than 5 redirects"},
		{name: "stream ends without an answer", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			sse(w, event(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}`))
		}, cause: "no answer on the stream: it ended after 1 event"},
		{name: "stream without the last empty line", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			sse(w, "data: "+result(string(m.ID), "{}")+"\n")
		}, cause: "no answer on the stream: it ended after 0 events"},
		{name: "event that is not JSON", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			sse(w, event("hello")+event(result(string(m.ID), "{}")))
		}, kind: ""},
		{name: "answer twice", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			sse(w, event(result(string(m.ID), "{}"))+event(result(string(m.ID), "{}")))
		}, kind: mcp.DuplicateID},
		{name: "hang", serve: func(w http.ResponseWriter, r *http.Request, m rpc) { <-r.Context().Done() }, cause: "timed out after"},
		{name: "hang in the stream", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			sse(w, ": wait\n\n")
			<-r.Context().Done()
		}, cause: "timed out after"},
		{name: "endless comments", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			w.Header().Set("Content-Type", "text/event-stream")
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, ": "+strings.Repeat("x", 1<<16)); err != nil {
					return
				}
			}
		}, cause: "timed out after"},
		{name: "answer over the limit", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			answerJSON(w, m.ID, `{"x":"`+strings.Repeat("x", 2<<20)+`"}`)
		}, cause: "over the limit of 1 MiB", kind: mcp.Oversize},
		{name: "zip bomb", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			for range 1 << 10 {
				if _, err := z.Write(make([]byte, 1<<20)); err != nil {
					return
				}
			}
		}, cause: "over the limit of 1 MiB", kind: mcp.Oversize},
		{name: "event over the limit", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			sse(w, event(`"`+strings.Repeat("x", 2<<20)))
		}, cause: "over the limit of 1 MiB", kind: mcp.Oversize},
		{name: "event over the limit that is not ended", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			sse(w, `data: "`+strings.Repeat("x", 2<<20))
		}, cause: "over the limit of 1 MiB", kind: mcp.Oversize},
		{name: "event of endless lines", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			w.Header().Set("Content-Type", "text/event-stream")
			for range 64 {
				if _, err := io.WriteString(w, strings.Repeat("data: x\n", 1<<15)); err != nil {
					return
				}
			}
			io.WriteString(w, "\n")
		}, cause: "over the limit of 1 MiB", kind: mcp.Oversize},
		{name: "BOM in the body", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, "\xef\xbb\xbf"+result(string(m.ID), "{}"))
		}, kind: mcp.BOM},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			srv := web(t, c.serve)
			s, err := openHTTP(t, srv.URL, mcp.HTTPOptions{Limits: mcp.Limits{Message: 1 << 20}}, mcp.Options{Limits: mcp.Limits{Message: 1 << 20}})
			if err != nil {
				t.Fatal(err)
			}
			limit := 10 * time.Second
			if strings.HasPrefix(c.cause, "timed out") {
				limit = time.Second
			}
			start := time.Now()
			x := s.Do(within(t, limit), mcp.Call{Method: "tools/call", Params: []byte(`{"name":"a"}`)})
			if d := time.Since(start); d > limit+2*time.Second {
				t.Errorf("it took %s", d)
			}
			if got := fmt.Sprint(x.Cause); c.cause == "" && x.Cause != nil || !strings.Contains(got, c.cause) {
				t.Errorf("cause %q, want %q", got, c.cause)
			}
			kinds := ""
			for _, v := range x.Violations {
				kinds += v.Kind
			}
			if kinds != c.kind {
				t.Errorf("violations %v, want %q", x.Violations, c.kind)
			}
			if strings.HasPrefix(c.name, "odd") {
				if v := s.TakeViolations(); len(v) > 0 {
					t.Error(v)
				}
			}
			if x := s.Do(within(t, time.Second), mcp.Call{Method: "tools/call"}); errors.As(x.Cause, new(*mcp.ClosedError)) {
				t.Error("the session is over:", x.Cause)
			}
		})
	}
}

func TestHTTPNobodyThere(t *testing.T) {
	_, err := openHTTP(t, "http://127.0.0.1:1/mcp", mcp.HTTPOptions{}, mcp.Options{Protocol: mcp.Auto})
	if err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Error(err)
	}
	srv := httptest.NewTLSServer(http.NotFoundHandler())
	defer srv.Close()
	if _, err = openHTTP(t, srv.URL, mcp.HTTPOptions{}, mcp.Options{Protocol: mcp.Auto}); err == nil || !strings.Contains(err.Error(), "tls.ca_file") {
		t.Error(err)
	}
	if _, err = mcp.NewHTTP("ftp://x", mcp.HTTPOptions{}); err == nil {
		t.Error("ftp is no address")
	}
}

// A stream that ends too early is taken up where it ended, after the time the
// server wants.
func TestHTTPResume(t *testing.T) {
	var gets atomic.Int32
	var began time.Time
	var gap atomic.Int64
	inner := web(t, func(w http.ResponseWriter, r *http.Request, m rpc) {
		sse(w, "id: a1\nretry: 500\ndata:\n\n")
		began = time.Now()
	})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.Header.Get("Last-Event-Id") == "" {
			inner.Config.Handler.ServeHTTP(w, r)
			return
		}
		if gets.Add(1) == 1 {
			gap.Store(int64(time.Since(began)))
		}
		if id := r.Header.Get("Last-Event-Id"); id != "a1" && id != "a2" {
			t.Errorf("Last-Event-ID %q", id)
		}
		if gets.Load() == 1 {
			sse(w, "id: a2\nretry: 10\ndata: "+`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}`+"\n\n")
			return
		}
		sse(w, event(result("2", "{}")))
	}))
	defer srv.Close()
	s := mustOpen(t, srv.URL)
	x := s.Do(within(t, 5*time.Second), mcp.Call{Method: "tools/call"})
	if x.Cause != nil || len(x.During) != 1 || gets.Load() != 2 {
		t.Fatalf("%v, %d messages, %d GETs", x.Cause, len(x.During), gets.Load())
	}
	if d := time.Duration(gap.Load()); d < 450*time.Millisecond || d > 700*time.Millisecond {
		t.Errorf("resumed after %s, want 500ms", d)
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
	s, err := openHTTP(t, srv.URL, mcp.HTTPOptions{}, mcp.Options{Answer: func(_ context.Context, method string, _ []byte) ([]byte, *mcp.RPCError) {
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
	x := s.Do(within(t, 2*time.Second), mcp.Call{Method: "tools/call"})
	if x.Cause != nil || methods(x.During) != "request elicitation/create, answer elicitation/create" {
		t.Error(x.Cause, methods(x.During))
	}
}

func TestHTTPRetry(t *testing.T) {
	var n, lists atomic.Int32
	srv := web(t, func(w http.ResponseWriter, r *http.Request, m rpc) {
		if m.Method == "tools/list" && strings.Contains(string(m.Params), "second") {
			answerJSON(w, m.ID, `{"tools":[{"name":"safe","annotations":{"idempotentHint":true}}]}`)
			return
		}
		if m.Method == "tools/list" {
			lists.Add(1)
			answerJSON(w, m.ID, `{"tools":[{"name":"other"}],"nextCursor":"second"}`)
			return
		}
		if n.Add(1)%2 == 1 {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(503)
			return
		}
		answerJSON(w, m.ID, `{}`)
	})
	do := func(s *mcp.Session, method, params string) (*mcp.Exchange, int) {
		n.Store(0)
		x := s.Do(within(t, time.Second), mcp.Call{Method: method, Params: []byte(params)})
		return x, int(n.Load())
	}
	s := mustOpen(t, srv.URL)
	if x, sent := do(s, "resources/read", `{}`); x.Cause != nil || sent != 2 || x.HTTP.Attempts != 2 || len(x.HTTP.Tries) != 1 || x.HTTP.Tries[0].Status != 503 {
		t.Errorf("%v %d %+v", x.Cause, sent, x.HTTP)
	}
	// Nobody listed the tools: the session does, when it has to know.
	for range 2 {
		if x, sent := do(s, "tools/call", `{"name":"safe"}`); x.Cause != nil || sent != 2 {
			t.Errorf("a tool with idempotentHint was called %d times: %v", sent, x.Cause)
		}
	}
	for _, name := range []string{"other", "unknown"} {
		if x, sent := do(s, "tools/call", `{"name":"`+name+`"}`); x.Cause == nil || sent != 1 {
			t.Errorf("tool %s was called %d times: %v", name, sent, x.Cause)
		}
	}
	if lists.Load() != 1 {
		t.Errorf("the tools were listed %d times", lists.Load())
	}
	one, none := 1, 0
	s, err := openHTTP(t, srv.URL, mcp.HTTPOptions{Retries: &one}, mcp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if x, sent := do(s, "tools/call", `{"name":"a"}`); x.Cause != nil || sent != 2 {
		t.Errorf("retry_http 1: %d times: %v", sent, x.Cause)
	}
	if s, err = openHTTP(t, srv.URL, mcp.HTTPOptions{Retries: &none}, mcp.Options{}); err != nil {
		t.Fatal(err)
	}
	if x, sent := do(s, "resources/read", `{}`); x.Cause == nil || sent != 1 {
		t.Errorf("retry_http 0: %d times: %v", sent, x.Cause)
	}
}

// Hostile sizes cost no memory.
func TestHTTPMemory(t *testing.T) {
	srv := web(t, func(w http.ResponseWriter, r *http.Request, m rpc) {
		w.Header().Set("Content-Type", "text/event-stream")
		chunk := strings.Repeat("x", 1<<20)
		io.WriteString(w, "data: ")
		for range 256 {
			if _, err := io.WriteString(w, chunk); err != nil {
				return
			}
		}
	})
	s, err := openHTTP(t, srv.URL, mcp.HTTPOptions{Limits: mcp.Limits{Message: 1 << 20}}, mcp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	x := s.Do(within(t, 10*time.Second), mcp.Call{Method: "tools/call"})
	runtime.ReadMemStats(&after)
	if x.Cause == nil {
		t.Error("256 MiB without an end were taken as an answer")
	}
	if grown := (after.TotalAlloc - before.TotalAlloc) >> 20; grown > 64 {
		t.Errorf("%d MiB were allocated", grown)
	}
}

func TestHTTPCancel(t *testing.T) {
	told := make(chan string, 1)
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
			told <- string(b)
		}
		inner.Config.Handler.ServeHTTP(w, r)
	}))
	defer legacy.Close()
	s := mustOpen(t, legacy.URL)
	x := s.Do(within(t, time.Second), mcp.Call{Method: "tools/call", CancelAfter: 30 * time.Millisecond})
	if !errors.As(x.Cause, new(*mcp.CancelledError)) {
		t.Error(x.Cause)
	}
	if got := <-told; !strings.Contains(got, `"requestId":`+x.ID) {
		t.Error(got)
	}
	<-gone
	s = openModern(t, modernWeb(t, func(w http.ResponseWriter, r *http.Request, m rpc) {
		if m.Method != "tools/call" {
			t.Errorf("%s was sent", m.Method)
		}
		hang(w, r, m)
	}).URL, mcp.Options{})
	x = s.Do(within(t, time.Second), mcp.Call{Method: "tools/call", CancelAfter: 30 * time.Millisecond})
	if !errors.As(x.Cause, new(*mcp.CancelledError)) {
		t.Error(x.Cause)
	}
	<-gone // the stream was closed, which is how such a server is told
}
