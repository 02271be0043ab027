package aqlcli_test

import (
	"bufio"
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/demo"
	"mcptest/internal/mcpaql/rule"
	"mcptest/internal/mcpaql/verdict"
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
	t.Parallel()
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
	if code != 2 || !strings.Contains(out, "Round-Trip Integrity [MUST] -> SKIP") {
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
	t.Parallel()
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

// It has the options that the adapter needs, and what could be a secret is taken from a
// variable, in the report, the bundle and the recording.
func TestRepeatLinesHoldTheOptions(t *testing.T) {
	prog := conformance(t)
	t.Setenv("PASSED", "on")
	t.Setenv("CI", "")
	bundle, record := filepath.Join(t.TempDir(), "b.json"), filepath.Join(t.TempDir(), "r.cassette.ndjson")
	target := `sh -c 'test -n "$PLACE" && test -n "$API_TOKEN" && test "$PASSED" = on && test "$HOME" = "$TMPDIR" && exec "$0" demo-adapter --defect leaks-sql' ` + prog
	out, errs, code := runProgram(t, prog, "live", "--stdio", target, "--env", "PLACE=two words", "--env", "API_TOKEN=abc123xyz", "--pass-env", "PASSED", "--isolate-home",
		"--bundle", bundle, "--record", record)
	if code != 1 {
		t.Fatalf("exit %d\n%s\n%s", code, out, errs)
	}
	m := regexp.MustCompile(`repeat: (mcpaql-conformance call .*)`).FindStringSubmatch(out)
	if m == nil || strings.Contains(out, "abc123xyz") {
		t.Fatalf("no repeat line, or a secret, in\n%s", out)
	}
	for _, file := range []string{bundle, record} {
		data, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(data, []byte(`--env PLACE=`)) {
			t.Errorf("no repeat line in %s: %v", file, err)
		}
		out += string(data)
	}
	if strings.Contains(out, "abc123xyz") || !strings.Contains(m[1], "--env PLACE='two words'") || !strings.Contains(m[1], `--env API_TOKEN="$API_TOKEN"`) {
		t.Errorf("a secret is written, or another value is not: %s", m[1])
	}
	cmd := exec.Command("sh", "-c", m[1])
	cmd.Env = append(os.Environ(), "API_TOKEN=abc123xyz", "PATH="+filepath.Dir(prog)+string(os.PathListSeparator)+os.Getenv("PATH"))
	answer, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(answer), "SQLITE_ERROR") {
		t.Errorf("%s\n%v: %s", m[1], err, answer)
	}
}

func TestLiveMistakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"live"}, "expected either --stdio or --url"},
		{[]string{"live", "--stdio", "a | b"}, "--stdio:"},
		{[]string{"live", "--stdio", "zz-no-such-program"}, "zz-no-such-program"},
		{[]string{"live", "--stdio", "x", "--mode", "sav"}, "expected one of plan, safe, write, full"},
		{[]string{"live", "--stdio", "x", "--clean=yes"}, "--clean: expected true or false"},
		{[]string{"live", "--url", "ftp://x"}, "not an http or https address"},
		{[]string{"live", "--stdio", "x", "--budget", "0"}, "--budget"},
		{[]string{"live", "--stdio", "x", "--values", "zz-none.json"}, "zz-none.json"},
		{[]string{"call", "--stdio", "x", "tool", "{"}, "not JSON"},
		{[]string{"demo-adapter", "--defect", "zz"}, "--defect"},
	} {
		r := runAQL(t, "", c.args...)
		if r.code != verdict.ExitConfig || !strings.Contains(r.err, c.want) {
			t.Errorf("%v: exit %d, %q", c.args, r.code, r.err)
		}
	}
}

// The same adapter over HTTP gets the same rows.
func TestLiveOverHTTP(t *testing.T) {
	t.Parallel()
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

// The commands that the page of defects names show what it says: one defect
// of each command is run as written there.
func TestDefectsUnderTheirCommands(t *testing.T) {
	t.Parallel()
	prog := conformance(t)
	rows := func(extra []string, served bool, adapter ...string) map[string]string {
		args := append([]string{"live", "--level", "2", "-f", "json", "--journal", t.TempDir()}, extra...)
		if served {
			url := serveDemo(t, prog, adapter...)
			args = append(args, "--url", url)
		} else {
			args = append(args, "--stdio", prog+" demo-adapter "+strings.Join(adapter, " "))
		}
		out, errs, _ := runProgram(t, prog, args...)
		v, err := jsonv.Parse([]byte(out))
		if err != nil {
			t.Fatalf("%v\n%s", err, errs)
		}
		got := map[string]string{}
		for _, c := range v.Lookup("categories").Elems() {
			for _, row := range c.Lookup("tests").Elems() {
				got[row.Lookup("name").Text()] = row.Lookup("result").Text()
			}
		}
		return got
	}
	names := map[string]string{}
	for _, test := range rule.Tests() {
		names[test.ID] = test.Name
	}
	for _, c := range []struct {
		defect string
		served bool
		extra  []string
	}{
		{"create-drops", false, []string{"--mode", "write"}},
		{"limits-open", false, []string{"--mode", "write", "--stress"}},
		{"step-bare", false, []string{"--mode", "full"}},
		{"confirm-anything", true, []string{"--mode", "write", "--confirm"}},
	} {
		t.Run(c.defect, func(t *testing.T) {
			t.Parallel()
			for _, d := range demo.Defects() {
				if d.Name != c.defect {
					continue
				}
				without := []string{}
				if d.Feature != "" && d.Feature != "stress" {
					without = []string{"--with", d.Feature}
				}
				before, after := rows(c.extra, c.served, without...), rows(c.extra, c.served, "--defect", d.Name)
				for name, result := range after {
					changed, want := before[name] != result, slices.ContainsFunc(d.Rows, func(id string) bool { return names[id] == name })
					if changed != want {
						t.Errorf("%s: %s without the defect, %s with it", name, before[name], result)
					}
				}
			}
		})
	}
}

// serveDemo starts a demo adapter over HTTP and returns its address.
func serveDemo(t *testing.T, prog string, args ...string) string {
	t.Helper()
	server := exec.Command(prog, append([]string{"demo-adapter", "--http", "127.0.0.1:0"}, args...)...)
	stderr, err := server.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	line, err := bufio.NewReader(stderr).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// A path that refuses the first request is shown, with those that servers usually have.
func TestAWrongPathIsNamed(t *testing.T) {
	t.Parallel()
	prog := conformance(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/closed" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.WriteHeader(http.StatusNotFound)
	}))
	defer server.Close()
	_, errs, code := runProgram(t, prog, "live", "--url", server.URL+"/api?token=abc")
	if code != 3 || !strings.Contains(errs, "the address is "+server.URL+"/api\n") || !strings.Contains(errs, "The usual ones are /mcp and /sse") {
		t.Errorf("exit %d: %s", code, errs)
	}
	if _, errs, _ = runProgram(t, prog, "live", "--url", server.URL+"/closed"); strings.Contains(errs, "usual") {
		t.Errorf("a path that asks for a login is called wrong: %s", errs)
	}
}
