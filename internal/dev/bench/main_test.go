package bench_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"mcptest/internal/dev/flaky"
)

// tools are the measured programs, the floor, the launcher and the servers.
type tools struct{ dir, mcptest, floor, echo, sdk, node, everything string }

// buildTools builds them into a folder that is removed at the end of the test.
func buildTools(tb testing.TB) *tools {
	tb.Helper()
	t := &tools{dir: tb.TempDir()}
	t.mcptest = t.build(tb, "mcptest/cmd/mcptest")
	t.floor = t.build(tb, "./testdata/floor")
	t.echo = t.build(tb, "./testdata/echo")
	t.sdk = t.build(tb, "./testdata/sdk")
	t.node, _ = exec.LookPath("node")
	script, err := filepath.Abs("../../../testdata/servers/node_modules/@modelcontextprotocol/server-everything/dist/index.js")
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := os.Stat(script); err == nil && t.node != "" {
		t.everything = script
	}
	return t
}

// build builds one program, without a version stamp: git may refuse to read a
// repository of another user.
func (t *tools) build(tb testing.TB, pkg string) string {
	tb.Helper()
	out := filepath.Join(t.dir, filepath.Base(pkg))
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", out, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if msg, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("build %s: %v\n%s", pkg, err, msg)
	}
	return out
}

// sample is the cost of one run of a program.
type sample struct {
	Wall, Verdict, CPU float64 // microseconds; Verdict: until the result of the first test was printed
	RSS                float64 // KiB
	Switches           float64 // context switches, including those of the server
}

// cost runs a command under the launcher.
func (t *tools) cost(tb testing.TB, argv ...string) sample {
	tb.Helper()
	var stdout, stderr bytes.Buffer
	once := func() error {
		stdout.Reset()
		stderr.Reset()
		cmd := exec.Command(t.floor, append([]string{"measure", "✓ echo"}, argv...)...)
		cmd.Dir, cmd.Stdout, cmd.Stderr = t.dir, &stdout, &stderr
		return cmd.Run()
	}
	if err := once(); err != nil {
		first := &flaky.Attempt{TB: tb}
		first.Errorf("%v: %v\n%s", argv, err, &stderr)
		for range 2 {
			if err := once(); err != nil {
				tb.Fatalf("%v: %v\n%s", argv, err, &stderr)
			}
		}
		flaky.Note(tb, "a run of the bench", first)
	}
	var s sample
	if err := json.Unmarshal(stdout.Bytes(), &s); err != nil {
		tb.Fatalf("%v: %v\n%s", argv, err, &stdout)
	}
	return s
}
