package cli_test

import (
	"bytes"
	_ "embed"
	"os"
	"strings"
	"testing"

	"mcptest/internal/base/shellwords"
	"mcptest/internal/cli"
	"mcptest/internal/cli/cmdutil"
)

//go:embed testdata/elsewhere.txt
var elsewhereLines string

// Command lines as people write them who come from Playwright, Vitest, Jest, pytest, go test,
// promptfoo and the Inspector: each is refused before anything runs, with a message that says
// what to write. A line of the table is followed by the message.
func TestLinesOfOtherToolsAreAnswered(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"suite.yaml": "servers: {api: {command: [mcptest, mock, --preset, echo]}}\ntools: [{name: a, tool: echo, args: {message: a}}]\n",
		"mcp.json":   `{"mcpServers": {"api": {"command": "node", "args": ["server.js"]}}}`,
		"a.test.ts":  "", "test_x.py": "",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rows := strings.Split(strings.TrimSpace(elsewhereLines), "\n")
	const least = 135
	if len(rows) < 2*least {
		t.Fatalf("%d command lines, at least %d are wanted", len(rows)/2, least)
	}
	for i := 0; i+1 < len(rows); i += 2 {
		args, err := shellwords.Argv(rows[i])
		if err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		code := cli.Main(args, cmdutil.Streams{In: strings.NewReader(""), Out: &out, Err: &errs, Env: os.Environ()})
		if want := strings.TrimSpace(rows[i+1]); code == 0 || !strings.Contains(errs.String(), want) {
			t.Errorf("mcptest %s\nexit %d: %s\nwant: %s", rows[i], code, errs.String(), want)
		}
	}
}
