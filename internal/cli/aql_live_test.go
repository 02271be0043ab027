package cli_test

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

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
		if v, err := jsonv.Parse([]byte(line)); err != nil || v.Lookup("does").Text() != "read" {
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
