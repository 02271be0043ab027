//go:build linux

package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// program runs this test binary as mcptest and returns what it cost.
func program(t *testing.T, dir string, args ...string) (stdout string, peakMB int, took time.Duration) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	cmd := exec.Cmd{Path: self, Args: append([]string{"mcptest"}, args...), Dir: dir, Stdout: &out, Stderr: &errs}
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, errs.String())
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return out.String(), int(usage.Maxrss >> 10), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// A hundred thousand tests come from rows, in bounded memory and time. The
// limits are twice what is aimed at (60 MB, 10 µs a row), because CI machines
// are shared.
func TestManyRows(t *testing.T) {
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
