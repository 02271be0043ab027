package cli_test

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"mcptest/internal/cli"
	"mcptest/internal/cli/cmdutil"
)

// A probe with a path uses the headers of the default server, and trusts the same
// certificates as the server's connections.
func TestPathProbeUsesTheServersSettings(t *testing.T) {
	t.Parallel()
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/health" || r.Header.Get("X-Key") != "k" {
			w.WriteHeader(http.StatusForbidden)
		}
	}))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	defer srv.Close()
	for extra, want := range map[string]int{
		"headers: {X-Key: k}, tls: {insecure: true}": 0,
		"tls: {insecure: true}":                      2,
		"headers: {X-Key: k}":                        2,
	} {
		file := filepath.Join(t.TempDir(), "s.yml")
		text := fmt.Sprintf(`
servers: {e: {url: "%s/mcp", %s}}
setup: [{run: ["true"], wait_for: /health, timeout: 3s}]
tools: [{name: one, tool: x, skip: "only the setup is looked at"}]
`, srv.URL, extra)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		got := cli.Main([]string{"run", file}, cmdutil.Streams{Out: &out, Err: &out, Env: os.Environ(), Exit: os.Exit})
		if got != want {
			t.Errorf("%s: exit %d, want %d:\n%s", extra, got, want, out.String())
		}
	}
}
