package upstream_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"mcptest/internal/base/testkit"
	"mcptest/internal/server/upstream"
)

// Requests that no handler gets, or that a double cannot read, are requests of the test.
func TestRefusals(t *testing.T) {
	long := strings.Repeat("x", 2<<20)
	for _, tt := range []struct {
		name, sent, method, path, want string
		status                         int
	}{
		{"a large body", "POST /v1/a HTTP/1.1\r\nHost: a\r\nContent-Length: 17825792\r\n\r\n" + strings.Repeat("y", 17<<20), "POST", "/v1/a", "its body has more than 16 MiB", 413},
		{"a body in large chunks", "POST /v1/a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1100000\r\n" + strings.Repeat("y", 17<<20) + "\r\n0\r\n\r\n", "POST", "/v1/a", "more than 16 MiB", 413},
		{"a large header", "GET /v1/a HTTP/1.1\r\nHost: a\r\nX: " + long + "\r\n\r\n", "GET", "/v1/a", "its headers have more than 1 MiB", 431},
		{"a very large header", "GET /v1/a HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat(long, 9) + "\r\n\r\n", "GET", "/v1/a", "431 Request Header Fields Too Large", 431},
		{"a malformed line", "GET /v1/a HTTTP/1.1\r\nHost: a\r\n\r\n", "GET", "/v1/a", "400 Bad Request", 400},
		{"half a line", "GET /v1/a", "GET", "/v1/a", "400 Bad Request", 400},
		{"a malformed header", "GET /v1/a HTTP/1.1\r\nHost: a\r\nBad Name: 1\r\n\r\n", "GET", "/v1/a", "400 Bad Request", 400},
		{"no host", "GET /v1/a HTTP/1.1\r\n\r\n", "GET", "/v1/a", "400 Bad Request: missing required Host header", 400},
		{"a malformed chunk", "POST /v1/a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "POST", "/v1/a", "its body could not be read", 400},
		{"an unknown encoding", "POST /v1/a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", "POST", "/v1/a", "501 Not Implemented", 501},
		{"an unknown expectation", "POST /v1/a HTTP/1.1\r\nHost: a\r\nExpect: magic\r\nContent-Length: 1\r\n\r\nx", "POST", "/v1/a", "417 Expectation Failed", 417},
		{"OPTIONS *", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", "OPTIONS", "*", `no route of upstream "api" matches OPTIONS *`, 501},
		{"TLS", "\x16\x03\x01\x00\x05hello\r\n\r\n", "", "", "it is TLS: the address of the double begins with http://", 400},
		{"half a request", "GET /v1/a HTTP/1.1\r\nHost:", "GET", "/v1/a", "400 Bad Request", 400},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := double(t, `- {match: {path: /v1/a}, reply: {text: ok}}`, nil)
			w := begin(d, nil, true)
			conn, err := net.Dial("tcp", d.Host())
			if err != nil {
				t.Fatal(err)
			}
			_ = conn.SetDeadline(time.Now().Add(time.Minute))
			_, _ = io.WriteString(conn, tt.sent)
			if strings.HasPrefix(tt.name, "half") {
				conn.Close()
			}
			defer conn.Close()
			testkit.Wait(t, "the request", func() bool { list := w.Seen(); return len(list) == 1 && list[0].Status != 0 })
			x := w.Seen()[0]
			if q := x.Request; x.Status != tt.status || !strings.Contains(x.Unmatched, tt.want) || q.Method != tt.method || q.Path != tt.path {
				t.Errorf("%d %s %s %q", x.Status, q.Method, q.Path, x.Unmatched)
			}
		})
	}
}

// A connection with good requests, one without any, and a bad request after a good one.
func TestGuardedConnections(t *testing.T) {
	d := double(t, `- {match: {path: /v1/a}, reply: {text: ok}}`, nil)
	w := begin(d, nil, true)
	for _, sent := range []string{"", "GET /v1/a HTTP/1.1\r\nHost: a\r\n\r\n", "GET /v1/a HTTP/1.1\r\nHost: a\r\n\r\nGET /v1/a HTTP/1.1\r\nHost: a\r\n\r\n"} {
		conn, err := net.Dial("tcp", d.Host())
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(time.Minute))
		fmt.Fprint(conn, sent)
		r := bufio.NewReader(conn)
		for range strings.Count(sent, "GET") {
			res, err := http.ReadResponse(r, nil)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.ReadAll(res.Body)
		}
		if len(sent) > 60 {
			fmt.Fprint(conn, "BAD\r\nHost: a\r\nAccept: text\r\n\r\n")
			_, _ = io.ReadAll(r)
		}
		conn.Close()
	}
	testkit.Wait(t, "the requests", func() bool { return len(w.Seen()) == 4 })
	for i, x := range w.Seen() {
		if bad := i == 3; bad != (x.Unmatched != "") {
			t.Errorf("%d: %+v", i, x)
		}
	}
	if w.Seen()[3].Status != http.StatusBadRequest {
		t.Errorf("%+v", w.Seen()[3])
	}
}

func TestHostOfRefusal(t *testing.T) {
	for head, want := range map[string]string{
		"GET http://u:p@api.example.com:81/x HTTP/1.1\r\nHost: other": "api.example.com:81", "CONNECT api.example.com:443 HTTP/1.1": "api.example.com:443",
		"GET /x HTTP/1.1\r\nAccept: a\r\nhost:  api.example.com\r\n": "api.example.com", "OPTIONS *\nHost: u:p@a": "a", "": "", "GET": "", "GET /x": "",
	} {
		r := upstream.Refusal{Head: head}
		if got := r.Host(); got != want {
			t.Errorf("%q: %q, expected %q", head, got, want)
		}
	}
}
