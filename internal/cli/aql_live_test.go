package cli_test

import (
	"bufio"
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"mcptest/internal/aql"
	"mcptest/internal/jsonv"
)

// conformance links the test binary under the program's name, so that it can
// be started like the program.
func conformance(t *testing.T) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs a symbolic link")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "mcpaql-conformance")
	if err := os.Symlink(self, link); err != nil {
		t.Fatal(err)
	}
	return link
}

func runProgram(t *testing.T, name string, args ...string) (out, errs string, code int) {
	t.Helper()
	cmd := exec.Command(name, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run()
	return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
}

func TestLiveAgainstTheDemoAdapter(t *testing.T) {
	prog, dir := conformance(t), t.TempDir()
	bundle, log := filepath.Join(dir, "out.json"), filepath.Join(dir, "calls.jsonl")
	target := prog + " demo-adapter --log " + log
	out, errs, code := runProgram(t, prog, "live", "--stdio", target, "--mode", "write", "--level", "2", "--bundle", bundle, "--journal", dir)
	if code != 0 || errs != "" || !strings.Contains(out, "MCP-AQL Level 2 Conformant") {
		t.Fatalf("exit %d\n%s\n%s", code, out, errs)
	}
	if again, _, code := runProgram(t, prog, "test", bundle, "--level", "2"); code != 0 || again != out {
		t.Errorf("the bundle gives another report (exit %d):\n%s", code, again)
	}
	if names, _ := filepath.Glob(filepath.Join(dir, "*.jsonl")); len(names) != 1 {
		t.Errorf("a journal is left: %v", names)
	}
	if err := os.Truncate(log, 0); err != nil {
		t.Fatal(err)
	}
	out, _, code = runProgram(t, prog, "live", "--stdio", target)
	if code != 0 || !strings.Contains(out, "Round-Trip Integrity [MUST] -> SKIP") {
		t.Errorf("safe mode: exit %d\n%s", code, out)
	}
	data, _ := os.ReadFile(log)
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		if v, err := jsonv.Parse([]byte(line)); err != nil || v.Lookup("category").Text() != "READ" {
			t.Errorf("safe mode called %s", line)
		}
	}
	if n == 0 {
		t.Error("safe mode called nothing")
	}
}

// The line that a finding is repeated with works as it is printed.
func TestFindingsCanBeRepeated(t *testing.T) {
	prog := conformance(t)
	out, _, code := runProgram(t, prog, "live", "--stdio", prog+" demo-adapter --defect leaks-sql")
	if code != 1 {
		t.Fatalf("exit %d\n%s", code, out)
	}
	m := regexp.MustCompile(`repeat: (mcpaql-conformance call .*)`).FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("no repeat line in\n%s", out)
	}
	cmd := exec.Command("sh", "-c", m[1])
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(prog)+string(os.PathListSeparator)+os.Getenv("PATH"))
	answer, err := cmd.Output()
	if err != nil || !strings.Contains(string(answer), "SQLITE_ERROR") {
		t.Errorf("%v: %s", err, answer)
	}
}

func TestLiveMistakes(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"live"}, "want either --stdio or --url"},
		{[]string{"live", "--stdio", "a | b"}, "--stdio:"},
		{[]string{"live", "--stdio", "zz-no-such-program"}, "zz-no-such-program"},
		{[]string{"live", "--stdio", "x", "--mode", "sav"}, "want one of plan, safe, write, full"},
		{[]string{"live", "--stdio", "x", "--clean=yes"}, "takes no value"},
		{[]string{"live", "--url", "ftp://x"}, "not an http or https address"},
		{[]string{"live", "--stdio", "x", "--budget", "0"}, "--budget"},
		{[]string{"live", "--stdio", "x", "--values", "zz-none.json"}, "zz-none.json"},
		{[]string{"call", "--stdio", "x", "tool", "{"}, "not JSON"},
		{[]string{"demo-adapter", "--defect", "zz"}, "--defect"},
	} {
		r := runAQL(t, "", c.args...)
		if r.code != aql.ExitConfig || !strings.Contains(r.err, c.want) {
			t.Errorf("%v: exit %d, %q", c.args, r.code, r.err)
		}
	}
}

// A run that is killed at any moment leaves nothing marked that live --clean
// does not find.
func TestKilledRunIsCleanedUp(t *testing.T) {
	prog := conformance(t)
	r := rand.New(rand.NewPCG(7, 7))
	found := 0
	for range 12 {
		dir := t.TempDir()
		state := filepath.Join(dir, "library.json")
		target := prog + " demo-adapter --operations 40 --state " + state
		cmd := exec.Command(prog, "live", "--stdio", target, "--mode", "write", "--rate", "2000", "--journal", filepath.Join(dir, "journal"))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(100+r.IntN(500)) * time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		time.Sleep(50 * time.Millisecond) // the adapter ends by itself
		before := markedThings(state)
		found += before
		if out, errs, code := runProgram(t, prog, "live", "--stdio", target, "--clean", "--journal", filepath.Join(dir, "journal")); code != 0 {
			t.Errorf("exit %d\n%s%s", code, out, errs)
		}
		if n := markedThings(state); n > 0 {
			t.Errorf("%d of %d marked things are left", n, before)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "journal", "*")); len(left) > 0 {
			t.Errorf("journals are left: %v", left)
		}
	}
	if found == 0 {
		t.Error("no kill left anything: the test proves nothing")
	}
	t.Logf("%d things found and removed", found)
}

func markedThings(state string) int {
	data, _ := os.ReadFile(state)
	return strings.Count(string(data), `"zz_conf_`)
}

// The same adapter over HTTP gets the same rows.
func TestLiveOverHTTP(t *testing.T) {
	prog := conformance(t)
	server := exec.Command(prog, "demo-adapter", "--http", "127.0.0.1:0")
	stderr, err := server.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Process.Kill(); _ = server.Wait() }()
	line, err := bufio.NewReader(stderr).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	out, errs, code := runProgram(t, prog, "live", "--url", strings.TrimSpace(line), "--mode", "write", "--level", "2", "--journal", t.TempDir())
	if code != 0 || !strings.Contains(out, "MCP-AQL Level 2 Conformant") {
		t.Errorf("exit %d\n%s\n%s", code, out, errs)
	}
}
