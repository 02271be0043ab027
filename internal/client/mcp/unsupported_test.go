package mcp_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"mcptest/internal/client/mcp"
	"mcptest/internal/client/wire"
)

// A server that does not speak the pinned revision is asked for those it does.
func TestPinNamesBoth(t *testing.T) {
	legacy := func(refuse func(w http.ResponseWriter, m rpc)) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			switch m := readRPC(r); m.Method {
			case "initialize":
				answerJSON(w, m.ID, helloResult)
			default:
				refuse(w, m)
			}
		}
	}
	modern := func(w http.ResponseWriter, r *http.Request) {
		if m := readRPC(r); m.Method == "server/discover" {
			answerJSON(w, m.ID, discovered)
		} else {
			http.Error(w, "no", http.StatusBadRequest)
		}
	}
	listing := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		io.WriteString(w, refused(string(readRPC(r).ID), -32022, `{"supported":["2026-07-28"]}`))
	}
	for _, c := range []struct {
		name, pin, has string
		serve          http.HandlerFunc
	}{
		{"no session", "2026-07-28", "2025-11-25", legacy(func(w http.ResponseWriter, m rpc) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			io.WriteString(w, refused("null", -32000, ""))
		})},
		{"page", "2026-07-28", "2025-11-25", legacy(func(w http.ResponseWriter, m rpc) { http.NotFound(w, nil) })},
		{"method", "2026-07-28", "2025-11-25", legacy(func(w http.ResponseWriter, m rpc) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, refused(string(m.ID), -32601, ""))
		})},
		{"bad request", "2025-11-25", "2026-07-28", modern},
		{"listing", "2025-06-18", "2026-07-28", listing},
	} {
		t.Run(c.name, func(t *testing.T) {
			srv := httptest.NewServer(c.serve)
			defer srv.Close()
			_, err := openHTTP(t, srv.URL, wire.HTTPOptions{}, mcp.Options{Protocol: c.pin})
			want := "the server does not speak protocol version " + c.pin + ", it speaks " + c.has + ": "
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		})
	}
	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	for _, pin := range []string{"2026-07-28", "2025-11-25"} {
		if _, err := openHTTP(t, srv.URL, wire.HTTPOptions{}, mcp.Options{Protocol: pin}); err == nil || !strings.Contains(err.Error(), "HTTP 404") {
			t.Error(err)
		}
	}
}

// HTTP+SSE is a session: a revision without sessions can't be pinned over it.
func TestPinOverSSE(t *testing.T) {
	_, err := openHTTP(t, "http://127.0.0.1:1/", wire.HTTPOptions{Kind: wire.HTTPSSE}, mcp.Options{Protocol: "2026-07-28"})
	if err == nil || !strings.Contains(err.Error(), "protocol version 2026-07-28 is not supported over HTTP+SSE") {
		t.Error(err)
	}
}

// What is wrong with an event stream that names no endpoint is reported, also where
// it was only tried because Streamable HTTP was refused.
func TestEndpointFaults(t *testing.T) {
	for _, c := range []struct{ name, stream, want string }{
		{"other origin", "event: endpoint\ndata: http://192.0.2.1/mcp\n\n", "the endpoint event names another origin: http://192.0.2.1"},
		{"none", ": hello\n\n", "no endpoint event was received within "},
		{"no answer", "hang", "no endpoint event was received within "},
		{"empty", "event: endpoint\ndata: \n\n", "no endpoint event was received within "},
		{"message first", event(result("1", "{}")), "no endpoint event was received (1 event of another type did) within "},
		{"ends", event("x") + "\x00", "no endpoint event was received (1 event of another type did) before it ended"},
	} {
		for _, kind := range []string{wire.HTTPAuto, wire.HTTPSSE} {
			t.Run(c.name+" "+kind, func(t *testing.T) {
				t.Parallel()
				srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.Method == http.MethodPost {
						http.NotFound(w, r)
						return
					}
					if c.stream == "hang" {
						<-r.Context().Done()
						return
					}
					text, ends := strings.CutSuffix(c.stream, "\x00")
					sse(w, text)
					if !ends {
						<-r.Context().Done()
					}
				}))
				t.Cleanup(srv.Close)
				tr, err := wire.NewHTTP(srv.URL, wire.HTTPOptions{Kind: kind})
				if err != nil {
					t.Fatal(err)
				}
				limit := time.Minute
				if strings.HasSuffix(c.want, " within ") {
					limit = 5 * time.Second
				}
				_, err = mcp.Open(context.Background(), tr, mcp.Options{Protocol: "auto", ConnectTimeout: limit})
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Fatalf("%v, want %s", err, c.want)
				}
				if kind == wire.HTTPAuto && !strings.Contains(err.Error(), "HTTP 404") {
					t.Error(err)
				}
			})
		}
	}
}

// An HTTP server has no standard output whose last line could be shown.
func TestNoLastLineOverHTTP(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, refused(string(readRPC(r).ID), -32601, ""))
	}))
	defer srv.Close()
	_, err := openHTTP(t, srv.URL, wire.HTTPOptions{}, mcp.Options{Protocol: "auto"})
	if d, ok := err.(interface{ Detail() string }); !ok || strings.Contains(d.Detail(), "stdout") {
		t.Error(err, d.Detail())
	}
}

// Both eras have the server's name in one place.
func TestServerInfoOfBothEras(t *testing.T) {
	for _, pin := range []string{"2026-07-28", "2025-11-25"} {
		s, err := mcp.Open(t.Context(), speaker(t, func(method, id string) string {
			switch method {
			case "server/discover":
				return result(id, discovered)
			case "initialize":
				return result(id, helloResult)
			}
			return ""
		}), mcp.Options{Protocol: pin})
		if err != nil {
			t.Fatal(err)
		}
		if s.ServerInfo().Lookup("serverInfo", "name").Text() == "" {
			t.Errorf("%s: %s", pin, s.ServerInfo().Append(nil))
		}
		s.Close(context.Background())
	}
}
