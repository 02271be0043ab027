package tee_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"mcptest/internal/base/testkit"
	"mcptest/internal/tape/tee"
)

// mcpServer responds to initialize with a session id, to other requests with events, and to
// GET with one event and a resumable id.
func mcpServer() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case r.URL.Path != "/mcp":
			fmt.Fprintf(w, "other %s %s %s", r.RequestURI, r.Host, r.Header.Get("X-Forwarded-Proto"))
		case bytes.Contains(body, []byte("initialize")):
			w.Header().Set("Mcp-Session-Id", "abc")
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
		case r.Method == http.MethodGet:
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, ": comment\r\n\r\nid: 7\r\nevent: message\r\ndata: {\"after\":%q,\r\ndata: \"b\":1}\r\n\r\n", r.Header.Get("Last-Event-ID"))
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		default:
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "data: {\"progress\":1}\n\n")
			w.(http.Flusher).Flush()
			fmt.Fprint(w, "data: {\"id\":2}\n\n")
		}
	})
}

func TestProxyRecordsExchanges(t *testing.T) {
	t.Parallel()
	upstream := httptest.NewServer(mcpServer())
	defer upstream.Close()
	target, _ := url.Parse(upstream.URL + "/mcp")
	var seen frames
	tap := tee.NewTap(seen.record)
	ctx, cancel := context.WithCancel(t.Context())
	ready, done := make(chan string, 1), make(chan error, 1)
	go func() {
		done <- tee.NewProxy(target, false, tap, func(err error) { t.Error(err) }).Listen(ctx, "0", func(u string) { ready <- u })
	}()
	address := <-ready
	send := func(method, u, session, body string) (string, *http.Response) {
		req, _ := http.NewRequestWithContext(t.Context(), method, u, strings.NewReader(body))
		req.Header.Set("X-Forwarded-Proto", "https")
		if session != "" {
			req.Header.Set("Mcp-Session-Id", session)
			req.Header.Set("Last-Event-Id", "6")
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if method == http.MethodGet && u == address {
			event := make([]byte, 73)
			n, _ := io.ReadFull(res.Body, event)
			res.Body.Close()
			return string(event[:n]), res
		}
		got, _ := io.ReadAll(res.Body)
		res.Body.Close()
		return string(got), res
	}
	first := `{"jsonrpc":"2.0","id":1,"method":"initialize"}`
	body, res := send(http.MethodPost, address, "", first)
	testkit.Equal(t, "the first response", body, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	testkit.Equal(t, "its session", res.Header.Get("Mcp-Session-Id"), "abc")
	second := `{"jsonrpc":"2.0","id":2,"method":"tools/call"}`
	if got, _ := send(http.MethodPost, address, "abc", second); got != "data: {\"progress\":1}\n\ndata: {\"id\":2}\n\n" {
		t.Errorf("%q", got)
	}
	if got, _ := send(http.MethodGet, address, "abc", ""); !strings.Contains(got, `{"after":"6",`) {
		t.Errorf("%q", got)
	}
	other := strings.TrimSuffix(address, "/mcp") + "/.well-known/x?a;b=%zz"
	if got, _ := send(http.MethodGet, other, "", ""); got != "other /.well-known/x?a;b=%zz "+target.Host+" https" {
		t.Errorf("%q", got)
	}
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if lost, err := tap.Close(); lost > 0 || err != nil {
		t.Fatal(lost, err)
	}
	var got []string
	for _, f := range seen.list {
		s := fmt.Sprint(f.Session, ".", f.Stream, " ", f.Dir, " ", string(f.Data))
		if f.HTTP != nil {
			s += fmt.Sprint(" ", f.HTTP.Method, f.HTTP.Status)
		}
		if f.Event != nil {
			s += " event " + f.Event.ID + f.Event.Type
		}
		if f.End != nil {
			s += fmt.Sprint(" end by client: ", f.End.Client)
		}
		got = append(got, s)
	}
	want := []string{
		`1.1 to-server ` + first + ` POST0`,
		`1.1 from-server {"jsonrpc":"2.0","id":1,"result":{}} 200`,
		`1.2 to-server ` + second + ` POST0`,
		`1.2 from-server  200`,
		`1.2 from-server {"progress":1} event `,
		`1.2 from-server {"id":2} event `,
		`1.2 from-server  end by client: false`,
		`1.3 to-server  GET0`,
		`1.3 from-server  200`,
		"1.3 from-server {\"after\":\"6\",\n\"b\":1} event 7message",
		`1.3 from-server  end by client: true`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("recorded:\n%s\nexpected:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestProxyRefusesForeignHost(t *testing.T) {
	t.Parallel()
	upstream := httptest.NewServer(mcpServer())
	defer upstream.Close()
	target, _ := url.Parse(upstream.URL + "/mcp")
	tap := tee.NewTap((&frames{}).record)
	front := httptest.NewServer(tee.NewProxy(target, false, tap, func(error) {}))
	defer front.Close()
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, front.URL+"/mcp", nil)
	req.Host = "rebound.example"
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusForbidden {
		t.Error(res.Status)
	}
}

// A server can respond before it has read the end of the request: the response is
// still forwarded completely.
func TestProxyForwardsResponseBeforeEndOfRequest(t *testing.T) {
	t.Parallel()
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := http.NewResponseController(w).EnableFullDuplex(); err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: 1\n\n")
		w.(http.Flusher).Flush()
		n, err := io.Copy(io.Discard, r.Body)
		fmt.Fprintf(w, "data: %d %v\n\n", n, err)
	}))
	defer upstream.Close()
	target, _ := url.Parse(upstream.URL)
	front := httptest.NewServer(tee.NewProxy(target, false, tee.NewTap((&frames{}).record), func(err error) { t.Error(err) }))
	defer front.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	req, _ := http.NewRequestWithContext(ctx, http.MethodPost, front.URL, strings.NewReader(strings.Repeat(" ", 16<<20)))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	testkit.Equal(t, "the error", err, nil)
	testkit.Equal(t, "the response", string(got), "data: 1\n\ndata: 16777216 <nil>\n\n")
}

// Each request to a server that is not reachable gets a response, on one connection.
func TestProxyOfUnreachableServer(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(nil)
	target, _ := url.Parse(gone.URL)
	gone.Close()
	front := httptest.NewServer(tee.NewProxy(target, false, tee.NewTap((&frames{}).record), func(error) {}))
	defer front.Close()
	for i := range 20 {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, front.URL, io.MultiReader(strings.NewReader("{}"))) // cannot be repeated
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatalf("request %d: %v", i+1, err)
		}
		if res.Body.Close(); res.StatusCode != http.StatusBadGateway {
			t.Error(res.Status)
		}
	}
}

// The stream at the address that a server's address redirects to is recorded.
func TestProxyRecordsRedirectedStream(t *testing.T) {
	t.Parallel()
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if next := map[string]string{"/mcp": "/moved", "/moved": "again/?a=1"}[r.URL.Path]; next != "" {
			w.Header().Set("Location", next)
			w.WriteHeader(http.StatusTemporaryRedirect)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: "+r.URL.Path+"\n\n")
	}))
	defer upstream.Close()
	target, _ := url.Parse(upstream.URL + "/mcp")
	var seen frames
	tap := tee.NewTap(seen.record)
	front := httptest.NewServer(tee.NewProxy(target, false, tap, func(err error) { t.Error(err) }))
	defer front.Close()
	for _, path := range []string{"/again/", "/mcp"} { // the first one is not part of MCP yet
		res, err := http.Get(front.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		testkit.Equal(t, path+": the error", err, nil)
		testkit.Equal(t, path+": the response", string(body), "data: /again/\n\n")
		res.Body.Close()
	}
	front.Close()
	if lost, err := tap.Close(); lost > 0 || err != nil {
		t.Fatal(lost, err)
	}
	recorded := 0
	for _, f := range seen.list {
		if string(f.Data) == "/again/" {
			recorded++
		}
	}
	if recorded != 1 {
		t.Errorf("%d events were recorded", recorded)
	}
}

// A client that follows a redirect, or the address for messages of HTTP+SSE, stays with
// the proxy.
func TestProxyKeepsClient(t *testing.T) {
	t.Parallel()
	var origin string
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/mcp":
			w.Header().Set("Location", origin+"/new?a=1#b")
			w.WriteHeader(http.StatusTemporaryRedirect)
		case "/away":
			w.Header().Set("Location", "https://other.example/mcp?key=1")
			w.WriteHeader(http.StatusPermanentRedirect)
		case "/mcp/":
			fmt.Fprint(w, "with a slash")
		case "/near":
			w.Header().Set("Location", "/new")
			w.WriteHeader(http.StatusSeeOther)
		case "/sse":
			w.Header().Set("Content-Type", "text/event-stream")
			for _, part := range []string{": hello\n\n", "event: end", "point\r\nda", "ta: " + origin + "/messages?id=1\r\n\r", "\ndata: " + origin + "\n\n"} {
				fmt.Fprint(w, part)
				w.(http.Flusher).Flush()
			}
		}
	}))
	defer upstream.Close()
	origin = upstream.URL
	target, _ := url.Parse(origin + "/mcp")
	var seen frames
	tap := tee.NewTap(seen.record)
	var warned []string
	front := httptest.NewServer(tee.NewProxy(target, true, tap, func(err error) { warned = append(warned, err.Error()) }))
	defer front.Close()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	send := func(method, path string) (location, body string) {
		req, _ := http.NewRequestWithContext(t.Context(), method, front.URL+path, strings.NewReader(`{"jsonrpc":"2.0"}`))
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		all, err := io.ReadAll(res.Body)
		if err != nil {
			t.Error(err)
		}
		return res.Header.Get("Location"), string(all)
	}
	for path, want := range map[string]string{"/mcp": front.URL + "/new?a=1#b", "/near": "/new", "/away": "https://other.example/mcp?key=1"} {
		if got, _ := send(http.MethodPost, path); got != want {
			t.Errorf("%s: %s, expected %s", path, got, want)
		}
	}
	send(http.MethodPost, "/away")
	if _, got := send(http.MethodPost, "/mcp/"); got != "with a slash" {
		t.Error(got)
	}
	want := ": hello\n\nevent: endpoint\r\ndata: " + front.URL + "/messages?id=1\r\n\r\ndata: " + origin + "\n\n"
	if _, got := send(http.MethodGet, "/sse"); got != want {
		t.Errorf("%q, expected %q", got, want)
	}
	if len(warned) != 1 || !strings.Contains(warned[0], "https://other.example/mcp, past the proxy") {
		t.Error(warned)
	}
	front.Close()
	if lost, err := tap.Close(); lost > 0 || err != nil {
		t.Fatal(lost, err)
	}
	recorded := ""
	for _, f := range seen.list {
		recorded += string(f.Data) + "\n"
		if f.HTTP != nil {
			recorded += strings.Join(f.HTTP.Header["Location"], "") + "\n"
		}
	}
	for _, own := range []string{origin + "/new?a=1#b\n", origin + "/messages?id=1\n"} {
		if !strings.Contains(recorded, own) {
			t.Errorf("the recording lacks %s as the server sent it:\n%s", own, recorded)
		}
	}
}
