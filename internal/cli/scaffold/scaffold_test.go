package scaffold_test

import (
	"context"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"mcptest/internal/base/secret"
	"mcptest/internal/cli/scaffold"
	"mcptest/internal/client/mcp"
	"mcptest/internal/report/result"
	"mcptest/internal/run/connect"
	"mcptest/internal/run/inspect"
	"mcptest/internal/server/manifest"
	"mcptest/internal/server/mcpserver"
	"mcptest/internal/server/mock"
	"mcptest/internal/spec/draft"
	"mcptest/internal/spec/plan"
)

// A secret of the command line becomes a variable, and other words that look
// like placeholders are escaped.
func TestBeginHidesSecrets(t *testing.T) {
	env := map[string]string{"PORT": "8080", "NOTE": "a private note"}
	d, err := scaffold.Begin(scaffold.Server{
		Argv: []string{"server", "--api-key", "correct-horse", "--token=battery-staple", "${HOME}"}, Env: []string{"PORT", "NOTE"}, Output: "mcptest.yaml",
	}, func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"server", "--api-key", "${MCPTEST_SECRET_1}", "--token=${MCPTEST_SECRET_2}", "$${HOME}"}
	if !slices.Equal(d.Suite.Server.Command, want) {
		t.Errorf("got %q", d.Suite.Server.Command)
	}
	if !slices.Equal(d.Suite.Server.Plain, []string{"PORT"}) || !slices.Contains(d.Hidden, "a private note") {
		t.Errorf("plain %q, hidden %q", d.Suite.Server.Plain, d.Hidden)
	}
	if text := string(d.Suite.YAML()); strings.Contains(text, "correct-horse") || strings.Contains(text, "battery-staple") {
		t.Errorf("a secret is written:\n%s", text)
	}
}

// What identifies the machine or its user is local, and so are variables that are passed to
// the server, except switches.
func TestBeginFindsWhatIsLocal(t *testing.T) {
	t.Setenv("USER", "ada")
	t.Setenv("LONG_VALUE", "twelve bytes")
	t.Setenv("SHORT_VALUE", "text")
	env := map[string]string{"PORT": "8080", "DEBUG": "true"}
	d, err := scaffold.Begin(scaffold.Server{Argv: []string{"server"}, Env: []string{"PORT", "DEBUG"}, Output: "mcptest.yaml"}, func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{"ada": true, "twelve bytes": true, "8080": true, "true": false, "text": false} {
		if got := d.Suite.WithoutLocal(text) != text; got != want {
			t.Errorf("%s: local %t, want %t", text, got, want)
		}
	}
}

// observed connects to the mock server and observes it twice, as init does.
func observed(t *testing.T, call ...string) (*scaffold.Draft, error) {
	t.Helper()
	m, err := manifest.Preset("echo")
	if err != nil {
		t.Fatal(err)
	}
	server := mock.New(m, mock.Options{})
	t.Cleanup(server.Close)
	web := mcpserver.NewHTTPServer(func() mcpserver.Handler { return server.Session() })
	t.Cleanup(web.Close)
	listener := httptest.NewServer(web)
	t.Cleanup(listener.Close)
	d, err := scaffold.Begin(scaffold.Server{URL: listener.URL, Transport: "auto", Protocol: mcp.Auto, Output: "mcptest.yaml"}, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	conn := inspect.New(inspect.Options{
		Server: &plan.Server{Name: "s", URL: listener.URL, Transport: "auto", Protocol: mcp.Auto, Timeout: time.Minute, ConnectTimeout: time.Minute, Tolerate: map[string]bool{}},
		Client: mcp.Implementation{Name: "test"}, Eras: connect.NewEras(nil),
	})
	for range 2 {
		if err := d.Observe(context.Background(), scaffold.Options{Conn: conn, Mask: secret.NewRedactor().String, Call: call}); err != nil {
			return d, err
		}
	}
	return d, nil
}

func find(t *testing.T, d *scaffold.Draft, subject string) *draft.Test {
	t.Helper()
	for _, test := range d.Suite.Tests {
		if test.Subject == subject {
			return test
		}
	}
	t.Fatalf("no test of %s", subject)
	return nil
}

// Only read-only tools and those that are named are called; each request is
// made twice in the first session and once in the second.
func TestObserve(t *testing.T) {
	d, err := observed(t, "count")
	if err != nil {
		t.Fatal(err)
	}
	if test := find(t, d, "count"); test.Skip != "" || len(test.Answers) != 3 {
		t.Errorf("count: skip %q, %d answers", test.Skip, len(test.Answers))
	}
	if test := find(t, d, "tools/list"); len(test.Answers) != 3 {
		t.Errorf("tools/list: %d answers", len(test.Answers))
	}
	skipped := 0
	for _, test := range d.Suite.Tests {
		if test.Skip == scaffold.NotReadOnly {
			skipped++
			if len(test.Answers) > 0 {
				t.Errorf("%s was called", test.Subject)
			}
		}
	}
	if skipped == 0 {
		t.Error("every tool was called")
	}
}

func TestUnknownToolToCall(t *testing.T) {
	if _, err := observed(t, "cuont"); err == nil || !strings.Contains(err.Error(), `no tool "cuont"`) {
		t.Errorf("got %v", err)
	}
}

// A violation is tolerated, and a test that fails for another reason is
// skipped; the second time there is nothing left to change.
func TestAdapt(t *testing.T) {
	d, err := observed(t, "*")
	if err != nil {
		t.Fatal(err)
	}
	names := d.Suite.Names()
	run := &result.Run{
		Findings: []result.Finding{{Kind: "stray-output", Severity: "error"}},
		Cases: result.NewStored(
			&result.Case{Index: 0, Name: names[0], Status: result.Pass},
			&result.Case{Index: 1, Name: names[1], Status: result.Fail, Message: "got 4"},
		),
	}
	if !d.Adapt(run) || !slices.Equal(d.Suite.Server.Tolerate, []string{"stray-output"}) || !strings.Contains(d.Suite.Tests[1].Skip, "got 4") {
		t.Errorf("tolerates %v, skips %q", d.Suite.Server.Tolerate, d.Suite.Tests[1].Skip)
	}
	run.Cases = result.NewStored()
	if d.Adapt(run) {
		t.Error("a tolerated violation changes the suite again")
	}
}
