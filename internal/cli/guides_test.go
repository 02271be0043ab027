package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var fenced = regexp.MustCompile("(?s)```(yaml|sh)\n(.*?)```")

// Every suite and every command in the guides about remote servers is run, in the order of
// the page, with a local server in place of the addresses.
func TestRemoteGuides(t *testing.T) {
	t.Parallel()
	mock := []string{"serving", "mcptest", "mock", "--preset", "everything", "--http", "127.0.0.1:0", "--"}
	for page, server := range map[string][]string{
		"remote.md": mock, "revisions.md": mock, "oauth.md": {"oauthserver"},
	} {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(filepath.Join("..", "..", "docs", "guides", page))
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			script, n := guideScript(t, dir, string(text))
			if n < 2 {
				t.Fatalf("the page has %d blocks to run", n)
			}
			if err := os.WriteFile(filepath.Join(dir, "page.sh"), []byte(script), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(server[0], append(server[1:], "sh", "-ex", "page.sh")...)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "MCPTEST_TOKEN_FILE="+filepath.Join(dir, "tokens.json"), "API_TOKEN=ready-made-token", "ALICE=Bearer ready-made-token",
				"CLIENT_SECRET=correct-horse-battery", "NO_COLOR=1", "CI=")
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			if strings.Contains(string(out), "canary-") {
				t.Errorf("a token is shown:\n%s", out)
			}
		})
	}
}

// guideScript writes the suites of a page and returns the shell script that runs the page,
// and its number of blocks.
func guideScript(t *testing.T, dir, page string) (script string, n int) {
	t.Helper()
	blocks := fenced.FindAllStringSubmatch(page, -1)
	var b strings.Builder
	replace := ` sed -e "s#https://mcp.example.com/mcp#$URL#g; s#http://localhost:8080/mcp#$URL#g; s#https://id.example.com#$ISSUER#g" `
	for i, m := range blocks {
		name := fmt.Sprintf("block%d", i)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(m[2]), 0o600); err != nil {
			t.Fatal(err)
		}
		switch next := i + 1; {
		case m[1] == "sh":
			fmt.Fprintf(&b, "%s %s > %s.sh\n. ./%s.sh\n", replace, name, name, name)
		case !strings.Contains("\n"+m[2], "\nservers:"):
			continue
		default:
			fmt.Fprintf(&b, "%s %s > suite.yaml\n", replace, name)
			if next < len(blocks) && blocks[next][1] == "sh" {
				break // the page says what to do with it
			}
			if strings.Contains("\n"+m[2], "\ntools:") {
				b.WriteString("mcptest run suite.yaml\n")
			} else {
				b.WriteString("mcptest tools --config suite.yaml\n")
			}
		}
		n++
	}
	return b.String(), n
}
