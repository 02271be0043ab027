package mcp_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mcptest/internal/base/testkit"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/wire"
)

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
		sse(w, event(result(mcp.ID(2), "{}")))
	}))
	defer srv.Close()
	s := mustOpen(t, srv.URL)
	x := s.Do(within(t, time.Minute), mcp.Call{Method: "tools/call"})
	testkit.Equal(t, "the call", outcomeOf(x), outcome{Result: "{}", During: "notification notifications/message"})
	testkit.Equal(t, "the number of GETs", gets.Load(), 2)
	if d := time.Duration(gap.Load()); d < 450*time.Millisecond {
		t.Errorf("resumed after %s, want at least 500ms", d)
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
	type sent struct {
		Times    int
		Answered bool
	}
	do := func(s *mcp.Session, method, params string) (*mcp.Exchange, sent) {
		n.Store(0)
		x := s.Do(within(t, time.Minute), mcp.Call{Method: method, Params: []byte(params)})
		return x, sent{int(n.Load()), x.Answered()}
	}
	s := mustOpen(t, srv.URL)
	x, got := do(s, "resources/read", `{}`)
	testkit.Equal(t, "the read", got, sent{2, true})
	testkit.Equal(t, "its attempts", x.HTTP.Attempts, 2)
	if len(x.HTTP.Tries) != 1 || x.HTTP.Tries[0].Status != 503 {
		t.Errorf("tries %+v, want one with HTTP 503", x.HTTP.Tries)
	}
	// No test listed the tools: the session does, when it has to know.
	for range 2 {
		_, got = do(s, "tools/call", `{"name":"safe"}`)
		testkit.Equal(t, "the call of a tool with idempotentHint", got, sent{2, true})
	}
	patient, err := openHTTP(t, srv.URL, wire.HTTPOptions{Patience: 1}, mcp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, got = do(patient, "tools/call", `{"name":"other"}`)
	testkit.Equal(t, "the call with patience", got, sent{2, true})
	for _, name := range []string{"other", "unknown"} {
		x, got := do(s, "tools/call", `{"name":"`+name+`"}`)
		testkit.Equal(t, "the call of tool "+name, got, sent{1, false})
		if !strings.Contains(fmt.Sprint(x.Cause), "not sent again: the tool has no idempotentHint; retry_http") {
			t.Error(x.Cause)
		}
	}
	testkit.Equal(t, "the number of tools/list", lists.Load(), 1)
	one, none := 1, 0
	if s, err = openHTTP(t, srv.URL, wire.HTTPOptions{Retries: &one}, mcp.Options{}); err != nil {
		t.Fatal(err)
	}
	_, got = do(s, "tools/call", `{"name":"a"}`)
	testkit.Equal(t, "the call with retry_http 1", got, sent{2, true})
	if s, err = openHTTP(t, srv.URL, wire.HTTPOptions{Retries: &none}, mcp.Options{}); err != nil {
		t.Fatal(err)
	}
	_, got = do(s, "resources/read", `{}`)
	testkit.Equal(t, "the read with retry_http 0", got, sent{1, false})
}

// token is an authorizer that gets its token when a request is refused, and
// takes its time.
type token struct {
	takes time.Duration
	has   atomic.Bool
}

func (a *token) Authorize(_ context.Context, r *http.Request) error {
	if a.has.Load() {
		r.Header.Set("Authorization", "Bearer x")
	}
	return nil
}

func (a *token) Challenged(context.Context, *http.Response) (bool, error) {
	time.Sleep(a.takes)
	a.has.Store(true)
	return true, nil
}

// A request that is sent again with a token was not sent again because the
// server was busy, and a login while the era is asked is not silence.
func TestLoginIsNeitherRetryNorSilence(t *testing.T) {
	t.Parallel()
	var methods []string
	var mu sync.Mutex
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m := readRPC(r)
		mu.Lock()
		methods = append(methods, m.Method)
		mu.Unlock()
		switch {
		case r.Header.Get("Authorization") == "":
			w.WriteHeader(http.StatusUnauthorized)
		case m.Method == "server/discover":
			answerJSON(w, m.ID, discovered)
		default:
			w.WriteHeader(http.StatusBadRequest)
		}
	}))
	t.Cleanup(srv.Close)
	// Half of the limit is how long silence lasts.
	const limit = 24 * time.Second
	o := wire.HTTPOptions{Auth: &token{takes: limit * 5 / 8}}
	s, err := openHTTP(t, srv.URL, o, mcp.Options{
		Protocol: mcp.Auto, ConnectTimeout: limit,
		Redial: func(context.Context) (wire.Transport, error) { return wire.NewHTTP(srv.URL, o) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := s.Handshake().HTTP.Attempts; n != 1 {
		t.Errorf("%d attempts, want 1", n)
	}
	mu.Lock()
	defer mu.Unlock()
	if strings.Join(methods, " ") != "server/discover server/discover" {
		t.Errorf("sent %q", methods)
	}
}
