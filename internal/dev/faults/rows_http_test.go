//go:build linux

package faults_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// httpRows are problems below the protocol, over HTTP.
func httpRows() []row {
	lost := func(id, what string, call func(*visit), says ...string) row {
		return row{id: "http/" + id, what: what, http: &web{call: call}, exit: 1, tests: "error pass", says: says}
	}
	status := func(code int, contentType, body string, says ...string) row {
		return lost(fmt.Sprintf("status-%d", code), fmt.Sprintf("a call gets HTTP %d", code), func(v *visit) { v.send(code, contentType, body) }, append(says, fmt.Sprintf("HTTP %d", code))...)
	}
	odd := func(id, what string, call func(*visit)) row {
		return row{id: "http/odd-" + id, what: "odd: " + what, http: &web{call: call}, tests: "pass pass"}
	}
	down := func(id, what, url string, says ...string) row {
		return row{
			id: "http/" + id, what: what, suite: "servers: {s: {url: \"" + url + "\", connect_timeout: 5s}}\ntools: [{name: one, tool: t}, {name: two, tool: t}]\n",
			exit: 1, tests: "error error", says: says, within: 7 * time.Second,
		}
	}
	const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	rows := []row{
		status(400, "text/plain", "Bad session", "Bad session"),
		status(401, "", "", "Unauthorized"),
		status(403, "text/html", "<h1>Forbidden</h1>", "<h1>Forbidden</h1>"),
		status(405, "", "", "Method Not Allowed"),
		status(408, "", "", "Request Timeout"),
		status(413, "", "", "Request Entity Too Large"),
		status(418, "text/plain", "short and stout", "short and stout"),
		status(429, "", "", "Too Many Requests"),
		status(500, "text/html", "<pre>\x1b[31mTraceback</pre>", `\x1b[31mTraceback`),
		status(502, "text/html", "<h1>Bad gateway</h1>"+strings.Repeat("x", 1<<20), "Bad gateway"),
		status(503, "", "", "Service Unavailable"),
		status(504, "", "", "Gateway Timeout"),
		lost("status-202", "a call is accepted but got no response", func(v *visit) { v.WriteHeader(202) }, "accepted but got no response"),
		lost("status-204", "a call gets HTTP 204", func(v *visit) { v.WriteHeader(204) }, "accepted but got no response"),
		lost("empty-body", "a call gets an empty body", func(v *visit) { v.json(200, "") }, "the body is empty"),
		lost("html", "a page to log in, with HTTP 200", func(v *visit) { v.send(200, "text/html", "<p>log in</p>") }, "text/html", "log in"),
		lost("binary", "a response of random bytes", func(v *visit) { v.send(200, "application/octet-stream", "\x00\x01\x02\xff\xfe") }, "application/octet-stream"),
		{id: "http/text-plain", what: "the response's content type is text/plain", http: &web{call: func(v *visit) { v.send(200, "text/plain", v.good()) }}, exit: 1, tests: "fail pass", says: []string{"content-type", "text/plain"}},
		{id: "http/broken-json", what: "the response is not JSON", http: &web{call: func(v *visit) { v.json(200, `{"jsonrpc":"2.0","id":`+v.id+`,"result":{`) }}, exit: 1, tests: "fail pass", says: []string{"not valid JSON"}},
		{id: "http/bom", what: "a byte order mark before the response", http: &web{call: func(v *visit) { v.json(200, "\ufeff"+v.good()) }}, exit: 1, tests: "fail pass", says: []string{"bom"}},
		lost("other-id", "the response has another id", func(v *visit) { v.json(200, answer("4711", goodResult)) }, "4711"),
		lost("number", "the response is a number", func(v *visit) { v.json(200, "7") }, "is not a response to the request"),
		lost("truncated", "the body is shorter than its length", func(v *visit) { v.raw(head+"Content-Length: 9999\r\n\r\n{\"jsonrpc\"", false) }, "the connection broke in the body"),
		lost("reset", "the connection is reset in the body", func(v *visit) { v.raw(head+"Content-Length: 9999\r\n\r\n{\"jsonrpc\"", true) }, "the connection broke in the body"),
		lost("closed", "the connection is closed without a response", func(v *visit) { v.raw("", false) }, "closed before a response"),
		lost("no-http", "a response that is not HTTP", func(v *visit) { v.raw("SSH-2.0-OpenSSH\r\n\r\n", false) }, "is not HTTP"),
		lost("broken-chunk", "a chunk whose length is no number", func(v *visit) {
			v.raw("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", false)
		}, "broke"),
		lost("negative-length", "a negative Content-Length", func(v *visit) { v.raw(head+"Content-Length: -5\r\n\r\n", false) }, "Content-Length"),
		lost("endless-header", "a header of 3 MB", func(v *visit) { v.raw("HTTP/1.1 200 OK\r\nX: "+strings.Repeat("x", 3<<20)+"\r\n\r\n", false) }, "headers exceeded"),
		lost("bad-header", "a header without a colon", func(v *visit) { v.raw("HTTP/1.1 200 OK\r\nnonsense\r\n\r\n", false) }, "header"),
		lost("bad-gzip", "a body declared as gzip that is not gzip", func(v *visit) {
			v.Header().Set("Content-Encoding", "gzip")
			v.json(200, "not gzip at all, really")
		}, "gzip"),
		lost("other-origin", "a redirect to another origin", func(v *visit) { http.Redirect(v, v.r, "http://other.invalid/x", http.StatusTemporaryRedirect) }, "redirects to another origin (http://other.invalid)"),
		lost("redirect-to-get", "a redirect that would make the call a GET", func(v *visit) { http.Redirect(v, v.r, "/x", http.StatusFound) }, "redirect"),
		lost("redirect-loop", "endless redirects", func(v *visit) { http.Redirect(v, v.r, "/mcp", http.StatusTemporaryRedirect) }, "more than 5 redirects"),
		lost("redirect-nowhere", "a redirect without an address", func(v *visit) { v.WriteHeader(307) }, "307"),
		{id: "http/hang", what: "a call gets no response", http: &web{call: (*visit).hang}, test: "timeout: 500ms", exit: 1, tests: "error pass", says: []string{"(limit: timeout 500ms)"}},
		{id: "http/hang-in-body", what: "the response stops in the middle", http: &web{call: func(v *visit) { v.json(200, `{"jsonrpc":`); v.Flush(); v.hang() }}, test: "timeout: 500ms", exit: 1, tests: "error pass", says: []string{"(limit: timeout 500ms)"}},
		{id: "http/drip", what: "the response comes at one byte every 50 ms", http: &web{call: func(v *visit) {
			for i := 0; v.r.Context().Err() == nil && i < 200; i++ {
				v.ResponseWriter.Write([]byte(" "))
				v.Flush()
				delay(50 * time.Millisecond)
			}
		}}, test: "timeout: 700ms", exit: 1, tests: "error pass", says: []string{"(limit: timeout 700ms)"}},
		{id: "http/endless-body", what: "a body without an end", http: &web{call: func(v *visit) { v.json(200, `{"x":"`); v.flood("x", 1<<30) }}, exit: 1, tests: "fail pass", says: []string{"oversize", "over the limit"}, memory: 256, within: 6 * time.Second},
		{id: "http/zip-bomb", what: "a small body that decompresses to 1 GB", http: &web{call: zipBomb}, exit: 1, tests: "fail pass", says: []string{"oversize", "over the limit"}, memory: 256, within: 6 * time.Second},
		down("no-listener", "nothing listens at the address", "http://127.0.0.1:$PORT/mcp", "connection refused"),
		down("no-such-host", "the host does not exist", "http://no-such-host.invalid/mcp", "no-such-host.invalid"),
		{id: "http/self-signed", what: "a certificate from an unknown authority", http: &web{tls: true}, exit: 1, tests: "error error", says: []string{"certificate", "tls.ca_file"}},
		{id: "http/odd-self-signed", what: "odd: the same, and the suite sets insecure", http: &web{tls: true}, server: "tls: {insecure: true}", tests: "pass pass"},
		{id: "http/plain-for-tls", what: "https where the server speaks http", suite: "servers: {s: {url: \"https://127.0.0.1:$PORT/mcp\", connect_timeout: 5s}}\ntools: [{name: one, tool: t}]\n", setup: plainOnPort, exit: 1, tests: "error", says: []string{"TLS"}},
		{id: "http/silent-port", what: "the port accepts and says nothing", http: &web{listen: silent}, server: "connect_timeout: 1s", exit: 1, tests: "error error", says: []string{"within 1s", "a longer connect_timeout gives it more time"}, within: 6 * time.Second},
		{id: "http/not-mcp", what: "the address is a web site", http: &web{any: func(v *visit) bool { v.send(404, "text/html", "<h1>Not here</h1>"); return true }}, exit: 1, tests: "error error", says: []string{"HTTP 404 Not Found; is the path right?", "mcptest doctor --server s"}},

		odd("201", "the response has status 201", func(v *visit) { v.json(201, v.good()) }),
		odd("charset", "the content type names a charset", func(v *visit) { v.send(200, "Application/JSON; charset=utf-8", v.good()) }),
		odd("pretty", "the response is written over several lines", func(v *visit) {
			v.json(200, "\n{\n  \"jsonrpc\": \"2.0\",\r\n  \"id\": "+v.id+",\n  \"result\": "+goodResult+"\n}\n")
		}),
		odd("gzip", "the response is compressed", func(v *visit) {
			v.Header().Set("Content-Encoding", "gzip")
			v.json(200, zipped(v.good()))
		}),
		odd("same-origin-redirect", "a redirect within the origin", func(v *visit) {
			if v.r.URL.Path != "/new" {
				http.Redirect(v, v.r, "/new", http.StatusTemporaryRedirect)
				return
			}
			v.ok()
		}),
		odd("no-keep-alive", "the connection is closed after each answer", func(v *visit) { v.Header().Set("Connection", "close"); v.ok() }),
		odd("early-hints", "informational answers come first", func(v *visit) { v.WriteHeader(103); v.WriteHeader(103); v.ok() }),
		odd("chunks", "the response comes in chunks of one byte", func(v *visit) {
			v.Header().Set("Content-Type", "application/json")
			for _, b := range []byte(v.good()) {
				v.ResponseWriter.Write([]byte{b})
				v.Flush()
			}
		}),
		{id: "http/error-in-200", what: "a JSON-RPC error with HTTP 200", http: &web{call: func(v *visit) { v.json(200, refusal(v.id, -32603, "no luck")) }}, exit: 1, tests: "fail pass", says: []string{"-32603", "no luck"}},
		{id: "http/result-in-500", what: "a result with HTTP 500", http: &web{call: func(v *visit) { v.json(500, v.good()) }}, exit: 1, tests: "error pass", says: []string{"HTTP 500", "can't contain a result"}},
		{id: "http/error-in-500", what: "a JSON-RPC error with HTTP 500", http: &web{call: func(v *visit) { v.json(500, refusal(v.id, -32603, "no luck")) }}, exit: 1, tests: "fail pass", says: []string{"-32603", "no luck"}},
		{id: "http/odd-modern", what: "odd: a server of revision 2026-07-28", http: &web{modern: true}, tests: "pass pass"},
	}
	return rows
}

func zipped(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, text)
	z.Close()
	return b.String()
}

func zipBomb(v *visit) {
	v.Header().Set("Content-Encoding", "gzip")
	v.Header().Set("Content-Type", "application/json")
	z := gzip.NewWriter(v)
	zeros := make([]byte, 1<<20)
	for range 1 << 10 {
		if _, err := z.Write(zeros); err != nil {
			return
		}
	}
	z.Close()
}

// silent accepts connections and never responds.
func silent() (string, func()) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	var open []net.Conn // an unused one would be closed as garbage
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			open = append(open, c)
		}
	}()
	return "http://" + l.Addr().String(), func() { l.Close() }
}

// plainOnPort has a server that speaks HTTP without TLS on the row's port.
func plainOnPort(t *trial) {
	l, err := net.Listen("tcp", "127.0.0.1:"+t.fill.Replace("$PORT"))
	if err != nil {
		t.tb.Fatal(err)
	}
	srv := &http.Server{Handler: http.NotFoundHandler()}
	go srv.Serve(l)
	t.tb.Cleanup(func() { srv.Close() })
}
