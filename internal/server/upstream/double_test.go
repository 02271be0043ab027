package upstream_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mcptest/internal/base/testkit"
	"mcptest/internal/server/upstream"
)

// get sends a request without keep-alive and returns the status and body, or the
// error.
func get(t testing.TB, method, url, body string) (string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Id", "seven")
	res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return fmt.Sprintf("%d %s %s", res.StatusCode, res.Header.Get("Content-Type"), b), err
}

func TestReplies(t *testing.T) {
	d := double(t, `
- {match: {path: /v1/json}, reply: {status: 201, json: {a: [1, x], n: 1.50}, headers: {x-rate: 5, content-type: application/vnd.api+json}}}
- {match: {path: /v1/text}, reply: {text: hello}}
- {match: {path: /v1/base64}, reply: {base64: aGk=}}
- {match: {path: /v1/none}, reply: {status: 204}}
- {match: {path: "/v1/users/{id}"}, reply: {json: {id: "{{path.id}}", n: "{{body.n}}", all: "{{body}}", q: "q={{query.q}}", h: "{{header.x-id}}", m: "{{method}}"}}}
- {match: {path: "/v1/echo/{id}"}, reply: {text: "id {{path.id}}!"}}
- {match: {path: /v1/chunks}, reply: {chunks: [one, two], interval: 1ms}}
- match: {path: /v1/sse}
  reply: {sse: [{event: message, id: 7, data: {a: 1}}, {data: "x\ny"}]}
- {match: {path: /v1/turns}, reply: [{status: 503}, {text: second}]}
- {match: {path: /v1/once}, reply: {text: once}, times: 1}
- {match: {path: /v1/once}, reply: {text: after}}`, nil)
	for _, tt := range []struct{ method, path, body, want string }{
		{"GET", "/json", "", `201 application/vnd.api+json {"a":[1,"x"],"n":1.50}`},
		{"GET", "/text", "", "200 text/plain; charset=utf-8 hello"},
		{"GET", "/base64", "", "200 application/octet-stream hi"},
		{"GET", "/none", "", "204  "},
		{"HEAD", "/text", "", "200 text/plain; charset=utf-8 "},
		{"PUT", "/users/a%20b?q=1", `{"n":2}`, `200 application/json {"id":"a b","n":2,"all":{"n":2},"q":"q=1","h":"seven","m":"PUT"}`},
		{"GET", "/echo/7", "", "200 text/plain; charset=utf-8 id 7!"},
		{"GET", "/chunks", "", "200 text/plain; charset=utf-8 onetwo"},
		{"GET", "/sse", "", "200 text/event-stream event: message\nid: 7\ndata: {\"a\":1}\n\ndata: x\ndata: y\n\n"},
		{"GET", "/turns", "", "503  "},
		{"GET", "/turns", "", "200 text/plain; charset=utf-8 second"},
		{"GET", "/turns", "", "200 text/plain; charset=utf-8 second"},
		{"GET", "/once", "", "200 text/plain; charset=utf-8 once"},
		{"GET", "/once", "", "200 text/plain; charset=utf-8 after"},
	} {
		if got, err := get(t, tt.method, d.URL()+tt.path, tt.body); err != nil || got != tt.want {
			t.Errorf("%s %s: %q, %v", tt.method, tt.path, got, err)
		}
	}
}

// A response that needs a missing value of the request is a problem.
func TestMissingValues(t *testing.T) {
	for _, reply := range []string{
		`text: "a {{query.nope}}"`, `json: {a: [{b: "{{query.nope}}"}]}`, `headers: {x: "{{query.nope}}"}`, `chunks: [a, "{{query.nope}}"]`, `sse: [{data: "{{query.nope}}"}]`,
	} {
		d := double(t, `- {match: {path: /v1/a}, reply: {`+reply+`}}`, nil)
		w := begin(d, nil, true)
		got, err := get(t, "GET", d.URL()+"/a?nop=1&b=", "")
		if err != nil || !strings.HasPrefix(got, "501 ") {
			t.Errorf("%s: %s, %v", reply, got, err)
		}
		want := `upstreams.api.routes[0]: the response needs {{query.nope}}, which the request GET /v1/a does not have`
		if x := w.Seen()[0]; x.Missing != want || x.Route != "upstreams.api.routes[0]" {
			t.Errorf("%s: %q", reply, x.Missing)
		}
		if got, _ := get(t, "GET", d.URL()+"/a?nope=", ""); !strings.HasPrefix(got, "200 ") || w.Seen()[1].Missing != "" {
			t.Errorf("%s, empty value: %s", reply, got)
		}
	}
}

func TestFaults(t *testing.T) {
	d := double(t, `
- {match: {path: /v1/drop}, reply: {drop: true}}
- {match: {path: /v1/reset}, reply: {reset: true}}
- {match: {path: /v1/cut}, reply: {text: 0123456789, truncate: 4}}
- {match: {path: /v1/cutstream}, reply: {chunks: [0123, 4567], truncate: 6}}
- {match: {path: /v1/slow}, reply: {delay: 1h}}
- {match: {path: /v1/stall}, reply: {chunks: [a, b], interval: 1h}}`, nil)
	if _, err := get(t, "GET", d.URL()+"/drop", ""); !errors.Is(err, io.EOF) {
		t.Errorf("drop: %v", err)
	}
	if _, err := get(t, "GET", d.URL()+"/reset", ""); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("reset: %v", err)
	}
	for path, want := range map[string]string{"/cut": "0123", "/cutstream": "012345"} {
		if got, err := get(t, "GET", d.URL()+path, ""); !errors.Is(err, io.ErrUnexpectedEOF) || !strings.HasSuffix(got, " "+want) {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
	// Close ends responses in progress.
	var wg sync.WaitGroup
	for _, path := range []string{"/slow", "/stall"} {
		w := begin(d, nil, false)
		wg.Go(func() {
			if got, err := get(t, "GET", d.URL()+path, ""); err == nil {
				t.Errorf("%s: %q", path, got)
			}
		})
		testkit.Wait(t, "the request", func() bool { return len(w.Seen()) > 0 })
		w.End()
	}
	d.Close()
	wg.Wait()
	if c, err := net.Dial("tcp", d.Host()); err == nil {
		c.Close()
		t.Error("the port is still open")
	}
}

func TestRoutesOfATest(t *testing.T) {
	var mu sync.Mutex
	var reported []upstream.Exchange
	d := double(t, `- {match: {path: /v1/a}, reply: [{text: first}, {text: second}]}`, func(x upstream.Exchange) {
		mu.Lock()
		defer mu.Unlock()
		reported = append(reported, x)
	})
	own, diags := compile(t, t.TempDir(), "stands_for: https://x.example\ninto: {env: A}\nroutes: [{match: {path: '*'}, reply: {status: 429}, times: 1}]")
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	for range 2 { // the counts start at zero again
		w := begin(d, own.Routes, true)
		var got []string
		for range 3 {
			s, err := get(t, "GET", d.URL()+"/a", "")
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, s[:3])
		}
		w.Answered(true)
		if _, err := get(t, "POST", d.URL()+"/a", "{}"); err != nil {
			t.Fatal(err)
		}
		w.End()
		if strings.Join(got, " ") != "429 200 200" || len(w.Seen()) != 4 || w.Seen()[2].Late || !w.Seen()[3].Late {
			t.Errorf("%v, %+v", got, w.Seen())
		}
	}
	if len(reported) != 2 || !reported[0].Late || reported[0].Request.Method != "POST" {
		t.Errorf("%+v", reported)
	}
	// Two tests at the same time: the request belongs to neither.
	one, two := begin(d, nil, false), begin(d, nil, false)
	d.Answer(request("GET", "/v1/a", ""))
	if len(one.Seen())+len(two.Seen()) != 0 || len(reported) != 3 {
		t.Errorf("%v %v %d", one.Seen(), two.Seen(), len(reported))
	}
}

func TestFallbackIsLast(t *testing.T) {
	u, _ := compile(t, t.TempDir(), "stands_for: https://x.example\ninto: {env: A}\nunmatched: 404\nroutes: [{match: {path: /a}}]")
	d := upstream.NewDouble(u, func(q *upstream.Request) (*upstream.Response, bool) {
		return &upstream.Response{Status: 299}, q.Path != "/no"
	}, func(upstream.Exchange) {})
	defer d.Close()
	for path, want := range map[string]int{"/a": 200, "/b": 299, "/no": 404} {
		if res, _ := d.Answer(request("GET", path, "")); res.Status != want {
			t.Errorf("%s: %d", path, res.Status)
		}
	}
}

func TestOtherProtocols(t *testing.T) {
	d := double(t, `- {match: {path: "*"}, reply: {text: ok}}`, nil)
	w := begin(d, nil, true)
	req, _ := http.NewRequest("GET", d.URL()+"/ws", nil)
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "websocket")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != 501 || !strings.Contains(w.Seen()[0].Unmatched, "WebSocket") {
		t.Errorf("%d %+v", res.StatusCode, w.Seen())
	}
	// HTTP/2 without TLS works; TLS is refused quickly.
	p := new(http.Protocols)
	p.SetUnencryptedHTTP2(true)
	if res, err = (&http.Client{Transport: &http.Transport{Protocols: p}}).Get(d.URL()); err != nil || res.ProtoMajor != 2 || res.StatusCode != 200 {
		t.Fatalf("%v %v", res, err)
	}
	res.Body.Close()
	conn, err := net.Dial("tcp", d.Host())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "\x16\x03\x01\x00\x05hello\r\n\r\n")
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(line, "400") {
		t.Errorf("%q %v", line, err)
	}
}

func BenchmarkDouble(b *testing.B) {
	d := double(b, `
- {match: {path: /v1/other}, reply: {json: {}}}
- {match: {method: POST, path: "/v1/users/{id}", query: {q: "*"}, body: {n: 1}}, reply: {json: {id: "{{path.id}}", n: "{{body.n}}"}}}`, nil)
	bare := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"id":"7","n":1}`))
	}))
	defer bare.Close()
	for name, url := range map[string]string{"double": d.URL(), "bare": bare.URL + "/v1"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				res, err := http.Post(url+"/users/7?q=1", "application/json", strings.NewReader(`{"n":1}`))
				if err != nil || res.StatusCode != 200 {
					b.Fatal(res, err)
				}
				_, _ = io.Copy(io.Discard, res.Body)
				res.Body.Close()
			}
		})
	}
}
