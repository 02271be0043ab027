package web_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"mcptest/internal/base/testkit"
	"mcptest/internal/base/web"
)

func TestIsLoopback(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "LocalHost": true, "127.0.0.1": true, "127.9.9.9": true, "::1": true,
		"": false, "localhost.example.com": false, "10.0.0.1": false, "0.0.0.0": false, "[::1]": false,
	} {
		testkit.Equal(t, host, web.IsLoopback(host), want)
	}
}

// A forwarded body is what the server sent, and a redirect is not followed.
func TestTransports(t *testing.T) {
	var connections []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		connections = append(connections, r.RemoteAddr)
		w.Header().Set("X-Accepted", r.Header.Get("Accept-Encoding"))
		w.Header().Set("Location", "/next")
		w.WriteHeader(http.StatusFound)
	}))
	defer srv.Close()
	for _, tt := range []struct {
		name      string
		transport *http.Transport
		accepted  string
		kept      bool
	}{
		{"once", web.Once(nil), "gzip", false},
		{"forwarding", web.NewForwarding(), "", true},
	} {
		connections = nil
		client := http.Client{Transport: tt.transport, CheckRedirect: web.NoRedirect}
		for range 2 {
			res, err := client.Get(srv.URL)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
			testkit.Equal(t, tt.name+": the status", res.StatusCode, http.StatusFound)
			testkit.Equal(t, tt.name+": the accepted encoding", res.Header.Get("X-Accepted"), tt.accepted)
		}
		tt.transport.CloseIdleConnections()
		testkit.Equal(t, tt.name+": whether the connection is kept", connections[0] == connections[1], tt.kept)
	}
}
