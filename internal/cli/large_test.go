//go:build linux

package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"mcptest/internal/base/testkit"
)

// program runs this test binary as mcptest and returns the resources that it used.
func program(t *testing.T, dir string, args ...string) (stdout string, peakMB int, took time.Duration) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	report := filepath.Join(t.TempDir(), "usage")
	var out, errs bytes.Buffer
	cmd := exec.Cmd{Path: self, Args: append([]string{"measured", report, self}, args...), Dir: dir, Env: append(os.Environ(), "CI="), Stdout: &out, Stderr: &errs}
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, errs.String())
	}
	text, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscan(string(text), &peakMB, &took); err != nil {
		t.Fatalf("%v: %q", err, text)
	}
	return out.String(), peakMB, took
}

// measuredMain runs mcptest and writes its peak of memory in MB and its time of a processor
// to a file. The kernel counts what the parent of a process needs when it starts it: the
// tests need more than most programs do, and this process needs little.
func measuredMain() {
	cmd := exec.Cmd{Path: os.Args[2], Args: append([]string{"mcptest"}, os.Args[3:]...), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	if err := cmd.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	took := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	text := fmt.Sprintln(usage.Maxrss>>10, int64(took))
	if err := os.WriteFile(os.Args[1], []byte(text), 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A hundred thousand tests from rows run with bounded memory and time. The limits are twice
// the targets (60 MB, 10 µs a row), because CI machines are shared.
func TestManyRows(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("reads 100,000 rows")
	}
	const n = 100_000
	dir := t.TempDir()
	var rows strings.Builder
	rows.WriteString("id,name,q,limit,want\n")
	for i := range n {
		fmt.Fprintf(&rows, "%d,row-%d,query text %d,%d,\"hello, %d\"\n", i, i, i, i%50, i)
	}
	suite := `servers:
  api: {command: [mcptest, mock, --preset, echo]}
tools:
  - name: search
    tool: echo
    cases: rows.csv
    args: {message: "${case.q}", limit: "${case.limit}", nested: {id: "${case.id}"}}
    expect:
      - {target: result.isError, matcher: {exact: false}}
      - {target: text, matcher: {contains: "${case.want}"}}
`
	for name, data := range map[string]string{"mcptest.yaml": suite, "rows.csv": rows.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"validate"}, {"run", "--list"}} {
		out, peak, took := program(t, dir, args...)
		if !strings.Contains(out, "100000") && strings.Count(out, "\n") != n {
			t.Errorf("%v: %d lines: %.200s", args, strings.Count(out, "\n"), out)
		}
		t.Logf("%v: %d MB, %v, %v a row", args, peak, took, took/n)
		if peak > 120 || took/n > 20*time.Microsecond {
			t.Errorf("%v: %d MB, %v a row", args, peak, took/n)
		}
	}
}

// A response of 8 MB, or 100 MB in the long form of the test, is recorded, replayed, served
// and compared, with memory bounded by its size.
func TestLargeMessages(t *testing.T) {
	t.Parallel()
	size := testkit.Count(2, 40)
	dir, server, limit := t.TempDir(), []string{"--", "big", strconv.Itoa(size)}, []string{"--timeout", "5m", "--max-message-size", "300MiB"}
	suite := fmt.Sprintf(`servers: {big: {command: [big, "%d"]}}
tools:
  - {name: big, tool: big, expect: [{target: text, matcher: {ends-with: "a \"big\" text\n"}}]}
`, size)
	if err := os.WriteFile(filepath.Join(dir, "suite.yaml"), []byte(suite), 0o600); err != nil {
		t.Fatal(err)
	}
	do := func(want string, args ...string) string {
		t.Helper()
		out, peak, took := program(t, dir, args...)
		t.Logf("%d MB, %v: %s", peak, took, strings.Join(args, " "))
		if !strings.Contains(out, want) {
			t.Errorf("%v: %.300s; expected %q", args, out, want)
		}
		if peak > 100+20*size {
			t.Errorf("%v: %d MB", args, peak)
		}
		return out
	}
	call := slices.Concat([]string{"call", "big"}, limit, []string{"--"})
	direct := do("big", append(call, server[1:]...)...)
	if len(direct) < size<<20*9/10 {
		t.Fatalf("%d bytes", len(direct))
	}
	record := do("big", slices.Concat(call, []string{"mcptest", "record", "-q", "-o", "big.ndjson"}, server)...)
	served := do("big", append(call, "mcptest", "serve", "--cassette", "big.ndjson")...)
	if record != direct || served != direct {
		t.Errorf("%d bytes from the server, %d through the recorder, %d from the cassette", len(direct), len(record), len(served))
	}
	do("tools/call big", "cassette", "show", "big.ndjson")
	do("no changes", slices.Concat([]string{"cassette", "verify", "big.ndjson"}, limit, server)...)
	do("no changes", "cassette", "diff", "big.ndjson", "big.ndjson")
	do("", "cassette", "redact", "big.ndjson", "-o", "redacted.ndjson")
	do("no changes", "cassette", "diff", "big.ndjson", "redacted.ndjson")
	do("tool: big", "cassette", "promote", "big.ndjson")
	do("1 passed", slices.Concat([]string{"run", "suite.yaml", "--record", "rec"}, limit)...)
	do("1 passed", slices.Concat([]string{"run", "suite.yaml", "--replay", "rec"}, limit)...)
}
