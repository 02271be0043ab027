package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"mcptest/internal/base/testkit"
)

// A suite that init writes for a real server passes, also in another environment.
func TestInitOnRealServers(t *testing.T) {
	t.Parallel()
	modules, err := filepath.Abs("../../testdata/servers/node_modules/@modelcontextprotocol")
	if err != nil {
		t.Fatal(err)
	}
	for server, c := range map[string]struct {
		args []string
		want string
	}{
		"server-everything": {nil, `\b1[0-9] passed`},
		"server-filesystem": {[]string{"."}, `\b20 passed, 8 skipped`},
		"server-memory":     {nil, `\b7 passed, 12 skipped`},
	} {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			if server != "server-memory" && !testkit.Deep() {
				t.Skip("slow: make deep")
			}
			needServers(t)
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "note.txt"), []byte("hello\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			home := []string{"HOME=" + os.Getenv("HOME"), "LANG=C.UTF-8"}
			mcptest := func(env []string, args ...string) []byte {
				cmd := exec.Command("mcptest", args...)
				cmd.Dir = dir
				cmd.Env = append(env, "PATH="+os.Getenv("PATH"), "NO_COLOR=1", "MEMORY_FILE_PATH="+filepath.Join(dir, "memory.json"))
				out, err := cmd.CombinedOutput()
				if err != nil {
					text, _ := os.ReadFile(filepath.Join(dir, "mcptest.yaml"))
					t.Fatalf("mcptest %v: %v\n%s\n%s", args, err, out, text)
				}
				return out
			}
			mcptest(home, append([]string{"init", "--timeout", "3s", "--env", "MEMORY_FILE_PATH", "--", "node", filepath.Join(modules, server, "dist", "index.js")}, c.args...)...)
			for _, env := range [][]string{{"HOME=/other", "USER=other", "TERM=dumb"}, home}[:testkit.Count(1, 2)] {
				if out := mcptest(env, "run"); !regexp.MustCompile(c.want).Match(out) {
					t.Errorf("want %s:\n%s", c.want, out)
				}
			}
		})
	}
}
