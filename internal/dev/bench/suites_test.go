package bench_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// head returns the beginning of a suite for one server. The protocol version is that
// of the floor: in 2026-07-28 each request repeats the client's name, which costs the
// server time. One call at a time is the default for one server; parallel: false
// would add the wait for an idle server after each test, because it makes tests
// exclusive.
func head(command []string, parallel int) string {
	quoted := make([]string, len(command))
	for i, c := range command {
		quoted[i] = fmt.Sprintf("%q", c)
	}
	options := ""
	if parallel > 1 {
		options = fmt.Sprintf("run_options: {parallel: %d}\n", parallel)
	}
	return fmt.Sprintf("servers:\n  s: {command: [%s], protocol: \"2025-11-25\"}\n%s\ntools:\n", strings.Join(quoted, ", "), options)
}

// written returns a suite of n explicit tests. Prefix is the echo tool's prefix of
// the text.
func written(n int, prefix string, command ...string) string {
	var b strings.Builder
	b.WriteString(head(command, 1))
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, `  - name: echo %d
    tool: echo
    args: {%s: "hello %d"}
    expect:
      - {target: text, matcher: {exact: "%shello %d"}}
`, i, argument(prefix), i, prefix, i)
	}
	return b.String()
}

// argument returns the name of the echo tool's argument: server-everything, which
// returns "Echo: …", calls it message.
func argument(prefix string) string {
	if prefix != "" {
		return "message"
	}
	return "text"
}

// fromCases writes a suite of one test with n rows in a file next to it. Argument and
// expected text differ in every row.
func (t *tools) fromCases(tb testing.TB, n, parallel int, command ...string) (path string) {
	tb.Helper()
	var rows strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&rows, "{\"text\":\"hello %d\"}\n", i)
	}
	file := fmt.Sprintf("rows-%d.jsonl", n)
	t.write(tb, file, rows.String())
	return t.write(tb, fmt.Sprintf("cases-%d-%d-%s.yml", n, parallel, filepath.Base(command[0])), head(command, parallel)+`  - name: echo
    cases: `+file+`
    tool: echo
    args: {text: "${case.text}"}
    expect:
      - {target: text, matcher: {exact: "${case.text}"}}
`)
}

func (t *tools) write(tb testing.TB, name, text string) string {
	tb.Helper()
	path := filepath.Join(t.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		tb.Fatal(err)
	}
	return path
}
