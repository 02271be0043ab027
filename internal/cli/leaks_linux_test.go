package cli_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"

	"mcptest/internal/base/testkit"
)

// Real runtimes: 10 KiB a session are found by 8,000 sessions in Go, Node.js and Python,
// however the sessions are left, and caches that fill are no leak.
func TestLeaksOfRuntimes(t *testing.T) {
	if !testkit.Deep() {
		t.Skip("takes minutes: make deep")
	}
	t.Parallel()
	dir, err := filepath.Abs("stress/testdata")
	if err != nil {
		t.Fatal(err)
	}
	runtimes := map[string][]string{"Node": {"node", filepath.Join(dir, "server.mjs"), "{port}"}, "Python": {"python3", filepath.Join(dir, "server.py"), "{port}"}}
	for name, server := range runtimes {
		if _, err := exec.LookPath(server[0]); err != nil {
			t.Fatal(err)
		}
		for _, tt := range []struct {
			name, leave string
			args        []string // KIB, WHEN, CACHE
			leaks       bool
		}{
			{"10 KiB", "close", []string{"10"}, true},
			{"a cache of 8 MiB", "mixed", []string{"0", "always", "8"}, false},
			{"kept until DELETE, closed", "close", []string{"10", "vanish"}, false},
			{"kept until DELETE, vanished", "vanish", []string{"10", "vanish"}, true},
		} {
			t.Run(name+"/"+tt.name, func(t *testing.T) {
				t.Parallel()
				args := append([]string{"leak", "-f", "json", "--sessions", "8000", "--leave", tt.leave, "--url", "http://127.0.0.1:{port}/mcp", "--"}, server...)
				out, err := exec.Command("mcptest", append(args, tt.args...)...).Output()
				var r struct {
					Verdict string
					Summary []string
				}
				if bad := json.Unmarshal(out, &r); bad != nil {
					t.Fatal(err, bad)
				}
				if (r.Verdict == "leaks") != tt.leaks {
					t.Errorf("%s: %q", r.Verdict, r.Summary)
				}
			})
		}
	}
}
