package mcp_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"mcptest/internal/base/testkit"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
)

// A stream that ends too early is taken up where it ended, after the time the
// server wants.
func TestHTTPResume(t *testing.T) {
	t.Parallel()
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

func (a *token) Reuse(r *http.Request) { _ = a.Authorize(context.Background(), r) }

func (a *token) Challenged(context.Context, *http.Response) (bool, error) {
	time.Sleep(a.takes)
	a.has.Store(true)
	return true, nil
}

// A request that is sent again with a token was not sent again because the
// server was busy, and a login while the era is asked is not silence.
func TestLoginIsNeitherRetryNorSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent []string
		server := inMemory(func(w http.ResponseWriter, r *http.Request) {
			m := readRPC(r)
			sent = append(sent, m.Method)
			switch {
			case r.Header.Get("Authorization") == "":
				w.WriteHeader(http.StatusUnauthorized)
			case m.Method == "server/discover":
				answerJSON(w, m.ID, discovered)
			default:
				w.WriteHeader(http.StatusBadRequest)
			}
		})
		o := wire.HTTPOptions{Auth: &token{takes: 40 * time.Second}, Wrap: func(http.RoundTripper) http.RoundTripper { return server }}
		dial := func(context.Context) (wire.Transport, error) { return wire.NewHTTP("http://server.test/mcp", o) }
		first, err := dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		s, err := mcp.Open(t.Context(), first, mcp.Options{Protocol: mcp.Auto, Redial: dial})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close(context.Background())
		testkit.Equal(t, "the attempts", s.Handshake().HTTP.Attempts, 1)
		testkit.Equal(t, "the requests", sent, []string{"server/discover", "server/discover"})
	})
}

// inMemory is a server that is reached without a network, so that a test can use fake
// time.
type inMemory http.HandlerFunc

func (h inMemory) RoundTrip(r *http.Request) (*http.Response, error) {
	if trace := httptrace.ContextClientTrace(r.Context()); trace != nil && trace.WroteRequest != nil {
		trace.WroteRequest(httptrace.WroteRequestInfo{})
	}
	w := httptest.NewRecorder()
	h(w, r)
	resp := w.Result()
	resp.Request = r
	return resp, r.Context().Err()
}

// A server over HTTP that answers late gets one connection for three seconds, then a
// second one with initialize only, which neither logs in nor decides anything.
func TestDetectOverHTTP(t *testing.T) {
	for _, c := range []struct {
		name   string
		modern bool
		auth   bool
		delay  time.Duration
		want   string // the requests, with "+" after those with a token
	}{
		{"modern", true, false, 1500 * time.Millisecond, "server/discover"},
		{"modern with a login", true, true, 2500 * time.Millisecond, "server/discover server/discover+"},
		{"session", false, false, 2500 * time.Millisecond, "server/discover initialize notifications/initialized"},
		{"session with a login", false, true, 1500 * time.Millisecond, "server/discover server/discover+ initialize+ notifications/initialized+"},
		{"modern, very late", true, false, 5 * time.Second, "server/discover initialize"},
		{"modern with a login, very late", true, true, 8 * time.Second, "server/discover initialize server/discover+"},
		{"session with a login, very late", false, true, 8 * time.Second, "server/discover initialize server/discover+ initialize+ notifications/initialized+"},
		// Only the first response was late: server/discover is repeated.
		{"session, very late", false, false, 8 * time.Second, "server/discover initialize server/discover initialize notifications/initialized"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var sent []string
				server := inMemory(func(w http.ResponseWriter, r *http.Request) {
					if r.Method != http.MethodPost {
						w.WriteHeader(http.StatusMethodNotAllowed)
						return
					}
					m, held := readRPC(r), r.Header.Get("Authorization") != ""
					mu.Lock()
					sent = append(sent, m.Method+map[bool]string{true: "+"}[held])
					first := len(sent) == 1
					mu.Unlock()
					if first {
						time.Sleep(c.delay)
					}
					switch {
					case c.auth && !held:
						w.WriteHeader(http.StatusUnauthorized)
					case c.modern && m.Method == "server/discover":
						answerJSON(w, m.ID, discovered)
					case !c.modern && m.Method == "initialize":
						answerJSON(w, m.ID, helloResult)
					case m.Method == "notifications/initialized":
						w.WriteHeader(http.StatusAccepted)
					default:
						w.WriteHeader(http.StatusBadRequest)
					}
				})
				o := wire.HTTPOptions{Wrap: func(http.RoundTripper) http.RoundTripper { return server }}
				if c.auth {
					o.Auth = &token{takes: 20 * time.Second}
				}
				dial := func(context.Context) (wire.Transport, error) { return wire.NewHTTP("http://server.test/mcp", o) }
				first, err := dial(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				s, err := mcp.Open(t.Context(), first, mcp.Options{Protocol: mcp.Auto, Redial: dial})
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close(context.Background())
				synctest.Wait()
				mu.Lock()
				defer mu.Unlock()
				testkit.Equal(t, "the requests", strings.Join(sent, " "), c.want)
				testkit.Equal(t, "whether the era is that of requests", s.Era() == protocol.EraStateless, c.modern)
				testkit.Equal(t, "whether the further connection is recorded", s.Detection() != "", c.delay > 3*time.Second)
			})
		})
	}
}
