package doctor_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"mcptest/internal/cli/doctor"
	"mcptest/internal/client/mcp"
	"mcptest/internal/run/connect"
	"mcptest/internal/run/inspect"
	"mcptest/internal/server/manifest"
	"mcptest/internal/server/mcpserver"
	"mcptest/internal/server/mock"
	"mcptest/internal/spec/plan"
)

// examine examines a server and returns its layers as "dns:ok tcp:ok …".
func examine(t *testing.T, url string) (doctor.Diagnosis, string) {
	t.Helper()
	o := connect.Options{UserAgent: "test"}
	conn := inspect.New(inspect.Options{
		Server: &plan.Server{
			Name: "server", URL: url, Transport: "auto", Protocol: mcp.Auto, Timeout: time.Minute, ConnectTimeout: time.Minute,
			Tolerate: map[string]bool{}, ValidateOutput: true,
		},
		Client: mcp.Implementation{Name: "test"}, Connect: o, Eras: connect.NewEras(nil),
	})
	t.Cleanup(conn.Close)
	var found int
	d := doctor.Examine(context.Background(), doctor.Options{Conn: conn, Connect: o, Found: func(doctor.Layer) { found++ }})
	if found != len(d.Layers) {
		t.Errorf("%d of %d layers were reported", found, len(d.Layers))
	}
	var states []string
	for _, l := range d.Layers {
		states = append(states, l.Name+":"+string(l.State))
	}
	return d, strings.Join(states, " ")
}

func TestExamineAddress(t *testing.T) {
	m, err := manifest.Preset("echo")
	if err != nil {
		t.Fatal(err)
	}
	server := mock.New(m, mock.Options{})
	t.Cleanup(server.Close)
	web := mcpserver.NewHTTPServer(func() mcpserver.Handler { return server.Session() })
	t.Cleanup(web.Close)
	healthy := httptest.NewServer(web)
	t.Cleanup(healthy.Close)
	locked := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(locked.Close)
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	for _, tc := range []struct{ name, url, states, stopped, hint string }{
		{"healthy", healthy.URL, "dns:ok tcp:ok http:ok auth:ok handshake:ok protocol:ok list:ok schemas:ok messages:ok", "", ""},
		{"locked", locked.URL, "dns:ok tcp:ok http:ok auth:fail", "auth", "mcptest login"},
		{"closed", closed.URL, "dns:ok tcp:fail", "tcp", "nothing is listening there"},
		{"not an address", "http://[", "dns:fail", "dns", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d, states := examine(t, tc.url)
			if states != tc.states || d.Stopped != tc.stopped {
				t.Errorf("got %s, stopped at %q", states, d.Stopped)
			}
			if last := d.Layers[len(d.Layers)-1]; !strings.Contains(last.Hint, tc.hint) {
				t.Errorf("the hint is %q", last.Hint)
			}
			if failed := d.Count(doctor.Fail) > 0; failed != (tc.stopped != "") {
				t.Errorf("%d layers failed", d.Count(doctor.Fail))
			}
		})
	}
}
