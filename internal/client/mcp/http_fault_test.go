package mcp_test

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"mcptest/internal/base/testkit"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
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
		cause string // part of the cause, "" for a response
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
		{name: "odd: stream stays open after the response", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			sse(w, event(result(string(m.ID), "{}")))
			<-r.Context().Done()
		}},
		{name: "odd: error status with the response", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			w.WriteHeader(500)
			io.WriteString(w, refused(string(m.ID), -32603, ""))
		}},
		{name: "500 with a result", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(500)
			io.WriteString(w, result(string(m.ID), "{}"))
		}, cause: "HTTP 500 Internal Server Error (application/json): a response with this status can't contain a result: {"},
		{name: "404 with a result", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			w.WriteHeader(404)
			io.WriteString(w, result(string(m.ID), "{}"))
		}, cause: "HTTP 404 Not Found (text/plain; charset=utf-8): a response with this status can't contain a result: {"},
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
		{name: "429 without a time", serve: func(w http.ResponseWriter, r *http.Request, m rpc) { w.WriteHeader(429) }, cause: "HTTP 429 Too Many Requests (not sent again: it has no Retry-After)"},
		{name: "429 for a day", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			w.Header().Set("Retry-After", "86400")
			w.WriteHeader(429)
		}, cause: "(not sent again: Retry-After asks for 24h0m0s, and the limit is 30s)"},
		{name: "503 for longer than the call has", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			w.Header().Set("Retry-After", "25")
			w.WriteHeader(503)
		}, cause: "(not sent again: Retry-After asks for 25s, longer than the call's time limit)"},
		{name: "brotli, which was not asked for", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Encoding", "br")
			io.WriteString(w, "\x1bL\x00")
		}, cause: `HTTP 200 OK (application/json): the body has the content encoding "br", which is not read: only gzip is`},
		{name: "deflate on a stream", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			w.Header().Set("Content-Encoding", "deflate")
			sse(w, "x\x9c")
		}, cause: `the body has the content encoding "deflate"`},
		{name: "odd: identity", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			w.Header().Set("Content-Encoding", "identity")
			answerJSON(w, m.ID, "{}")
		}},
		{name: "202 to a request", serve: func(w http.ResponseWriter, r *http.Request, m rpc) { w.WriteHeader(202) }, cause: "the request was accepted but got no response"},
		{name: "204", serve: func(w http.ResponseWriter, r *http.Request, m rpc) { w.WriteHeader(204) }, cause: "the request was accepted but got no response"},
		{name: "empty body", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			w.Header().Set("Content-Type", "application/json")
		}, cause: "the body is empty"},
		{name: "HTML with 200", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, "<p>log in</p>")
		}, cause: "HTTP 200 OK (text/html): this is not a response: <p>log in</p>"},
		{name: "a response as text/plain", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			w.Header().Set("Content-Type", "text/plain")
			io.WriteString(w, result(string(m.ID), "{}"))
		}, kind: protocol.ContentType},
		{name: "bad JSON", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"jsonrpc":"2.0","id":`+string(m.ID)+`,"result":{`)
		}, cause: "the response is not valid JSON", kind: protocol.BadJSON},
		{name: "JSON that is no object", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `7`)
		}, cause: "the body is not a response to the request"},
		{name: "another id", serve: func(w http.ResponseWriter, r *http.Request, m rpc) { answerJSON(w, []byte("4711"), "{}") }, cause: "the body is not a response to the request"},
		{name: "id as text", serve: func(w http.ResponseWriter, r *http.Request, m rpc) { answerJSON(w, []byte(`"`+string(m.ID)+`"`), "{}") }, kind: protocol.IDType},
		{name: "length too long", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			hijack(w, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n{\"jsonrpc\"", false)
		}, cause: "the connection broke in the body"},
		{name: "reset in the body", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			hijack(w, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n{\"jsonrpc\"", true)
		}, cause: "the connection broke in the body"},
		{name: "closed without a response", serve: func(w http.ResponseWriter, r *http.Request, m rpc) { hijack(w, "", false) }, cause: "the connection was closed before a response"},
		{name: "no HTTP", serve: func(w http.ResponseWriter, r *http.Request, m rpc) { hijack(w, "SSH-2.0-x\r\n\r\n", false) }, cause: "the response is not HTTP"},
		{name: "broken chunk", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			hijack(w, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", false)
		}, cause: "no response on the stream: it broke"},
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
		{name: "stream ends without a response", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			sse(w, event(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}`))
		}, cause: "no response on the stream: it ended after 1 event"},
		{name: "stream without the last empty line", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			sse(w, "data: "+result(string(m.ID), "{}")+"\n")
		}, cause: "no response on the stream: it ended after 0 events"},
		{name: "event that is not JSON", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			sse(w, event("hello")+event(result(string(m.ID), "{}")))
		}, kind: ""},
		{name: "response sent twice", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			sse(w, event(result(string(m.ID), "{}"))+event(result(string(m.ID), "{}")))
		}, kind: protocol.DuplicateID},
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
		{name: "response over the limit", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			answerJSON(w, m.ID, `{"x":"`+strings.Repeat("x", 2<<20)+`"}`)
		}, cause: "over the limit of 1 MiB", kind: protocol.Oversize},
		{name: "zip bomb", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			for range 1 << 10 {
				if _, err := z.Write(make([]byte, 1<<20)); err != nil {
					return
				}
			}
		}, cause: "over the limit of 1 MiB", kind: protocol.Oversize},
		{name: "event over the limit", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			sse(w, event(`"`+strings.Repeat("x", 2<<20)))
		}, cause: "over the limit of 1 MiB", kind: protocol.Oversize},
		{name: "event over the limit that is not ended", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			sse(w, `data: "`+strings.Repeat("x", 2<<20))
		}, cause: "over the limit of 1 MiB", kind: protocol.Oversize},
		{name: "event of endless lines", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			w.Header().Set("Content-Type", "text/event-stream")
			for range 64 {
				if _, err := io.WriteString(w, strings.Repeat("data: x\n", 1<<15)); err != nil {
					return
				}
			}
			io.WriteString(w, "\n")
		}, cause: "over the limit of 1 MiB", kind: protocol.Oversize},
		{name: "BOM in the body", serve: func(w http.ResponseWriter, r *http.Request, m rpc) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, "\xef\xbb\xbf"+result(string(m.ID), "{}"))
		}, kind: protocol.BOM},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			srv := web(t, c.serve)
			s, err := openHTTP(t, srv.URL, wire.HTTPOptions{Limits: wire.Limits{Message: 1 << 20}}, mcp.Options{Limits: wire.Limits{Message: 1 << 20}})
			if err != nil {
				t.Fatal(err)
			}
			limit := time.Minute
			switch {
			case strings.HasPrefix(c.cause, "timed out"):
				limit = time.Second
			case strings.Contains(c.cause, "Retry-After"):
				limit = 20 * time.Second
			}
			start := time.Now()
			x := s.Do(within(t, limit), mcp.Call{Method: "tools/call", Params: []byte(`{"name":"a"}`)})
			if d := time.Since(start); d > limit+30*time.Second {
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
			if x := s.Do(within(t, time.Second), mcp.Call{Method: "tools/call"}); errors.As(x.Cause, new(*wire.ClosedError)) {
				t.Error("the session is over:", x.Cause)
			}
		})
	}
}

// An error in the HTTP response to a notification is a violation: a server that rejects a
// notification responds with a status of 400 and above.
func TestHTTPErrorToNotification(t *testing.T) {
	const no = `"error":{"code":-32601,"message":"Method not found"}}`
	for _, c := range []struct {
		name, body, want string
	}{
		{"empty", ``, ""},
		{"not JSON-RPC", `{"error":{"message":"none"}}`, ""},
		{"text", `Accepted`, ""},
		{"result", `{"jsonrpc":"2.0","id":null,"result":{}}`, ""},
		{"error", `{"jsonrpc":"2.0","id":null,` + no, "null-id"},
		{"error without id", `{"jsonrpc":"2.0",` + no, "missing-id"},
		{"error with an id", `{"jsonrpc":"2.0","id":7,` + no, "unknown-id"},
	} {
		t.Run(c.name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch m := readRPC(r); m.Method {
				case "initialize":
					answerJSON(w, m.ID, helloResult)
				case "notifications/initialized":
					w.Header().Set("Content-Type", "application/json")
					io.WriteString(w, c.body)
				default:
					w.WriteHeader(http.StatusMethodNotAllowed)
				}
			}))
			t.Cleanup(srv.Close)
			s := mustOpen(t, srv.URL)
			got := s.TakeViolations()
			testkit.Equal(t, "the violations", kinds(got), c.want)
			testkit.Equal(t, "that they are repeated", len(got) > 1, false)
		})
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
	s, err := openHTTP(t, srv.URL, wire.HTTPOptions{Limits: wire.Limits{Message: 1 << 20}}, mcp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	x := s.Do(within(t, time.Minute), mcp.Call{Method: "tools/call"})
	runtime.ReadMemStats(&after)
	if x.Cause == nil {
		t.Error("256 MiB without an end were taken as a response")
	}
	if grown := (after.TotalAlloc - before.TotalAlloc) >> 20; grown > 64 {
		t.Errorf("%d MiB were allocated", grown)
	}
}
