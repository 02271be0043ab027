package mcptest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"

	"mcptest"
	"mcptest/internal/cli"
	"mcptest/internal/cli/cmdutil"
)

// The examples start the program; the test binary is linked under its name.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"mcptest": func() { os.Exit(cli.Main(os.Args[1:], cmdutil.System())) },
		"fetcher": fetcher,
	})
}

// fetcher is a server over stdio with a tool that gets a path from API_URL.
func fetcher() {
	s := sdk.NewServer(&sdk.Implementation{Name: "fetcher", Version: "1"}, nil)
	type fetch struct {
		Path string `json:"path"`
	}
	sdk.AddTool(s, &sdk.Tool{Name: "fetch"}, func(_ context.Context, _ *sdk.CallToolRequest, f fetch) (*sdk.CallToolResult, any, error) {
		if strings.HasPrefix(f.Path, "/") {
			f.Path = os.Getenv("API_URL") + f.Path
		}
		res, err := http.Get(f.Path)
		if err != nil {
			return nil, nil, err
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(text)}}}, nil, err
	})
	_ = s.Run(context.Background(), &sdk.StdioTransport{})
}

// numbers is a server of the official SDK in this process. It notes the calls.
func numbers(calls chan<- string) func(context.Context) (io.ReadWriteCloser, error) {
	s := sdk.NewServer(&sdk.Implementation{Name: "numbers", Version: "1"}, nil)
	type pair struct {
		A int `json:"a"`
		B int `json:"b"`
	}
	type sum struct {
		Sum int `json:"sum"`
	}
	type text struct {
		Text string `json:"text"`
	}
	sdk.AddTool(s, &sdk.Tool{Name: "add"}, func(_ context.Context, _ *sdk.CallToolRequest, p pair) (*sdk.CallToolResult, sum, error) {
		calls <- "add"
		return nil, sum{p.A + p.B}, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "echo"}, func(_ context.Context, _ *sdk.CallToolRequest, x text) (*sdk.CallToolResult, any, error) {
		calls <- "echo"
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: x.Text}}}, nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "hang"}, func(ctx context.Context, _ *sdk.CallToolRequest, _ text) (*sdk.CallToolResult, any, error) {
		<-ctx.Done()
		return nil, nil, ctx.Err()
	})
	return func(ctx context.Context) (io.ReadWriteCloser, error) {
		client, server := net.Pipe()
		go func() { _ = s.Run(ctx, &sdk.IOTransport{Reader: server, Writer: server}) }()
		return client, nil
	}
}

func TestServerInProcess(t *testing.T) {
	calls := make(chan string, 100)
	mcptest.Test(t, "testdata/goapi/suite.yaml", mcptest.InProcess("api", numbers(calls)), mcptest.Var("word", "good morning"))
	close(calls)
	var got []string
	for c := range calls {
		got = append(got, c)
	}
	if want := []string{"add", "add", "echo"}; !slices.Equal(got, want) {
		t.Errorf("the server got the calls %q, want %q", got, want)
	}
}

// TestSuite is what the tests below run in a process of its own.
func TestSuite(t *testing.T) {
	file := os.Getenv("GOAPI_SUITE")
	if file == "" {
		t.Skip("a part of other tests")
	}
	var options []mcptest.Option
	switch os.Getenv("GOAPI_SERVER") {
	case "":
	case "nothing":
		options = append(options, mcptest.InProcess("api", func(context.Context) (io.ReadWriteCloser, error) { return nil, nil }))
	case "blocks":
		options = append(options, mcptest.InProcess("api", func(context.Context) (io.ReadWriteCloser, error) { select {} }))
	case "panics":
		options = append(options, mcptest.InProcess("api", func(context.Context) (io.ReadWriteCloser, error) { panic("no database") }))
	default:
		calls := make(chan string, 100)
		options = append(options, mcptest.InProcess("api", numbers(calls)))
		defer func() {
			close(calls)
			for c := range calls {
				t.Log("called " + c)
			}
		}()
	}
	if os.Getenv("GOAPI_UPDATE") != "" {
		options = append(options, mcptest.UpdateSnapshots(), mcptest.RecordUpstreams("api"))
	}
	mcptest.Test(t, file, options...)
}

// Recordings, proxies and snapshots behave as with the command.
func TestUpstreams(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/goapi/upstreams")); err != nil {
		t.Fatal(err)
	}
	asked := 0
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		fmt.Fprintf(w, "answer %d to %s", asked, r.URL.Query().Get("n"))
	}))
	defer api.Close()
	suite := filepath.Join(dir, "suite.yaml")
	for _, step := range []struct {
		env    []string
		passed bool
		want   string
	}{
		{[]string{"API=" + api.URL}, false, "cannot read the recording api.yaml: no such file"},
		{[]string{"API=" + api.URL, "GOAPI_UPDATE=1", "CI=1"}, false, "refused because CI is set"},
		{[]string{"API=" + api.URL, "GOAPI_UPDATE=1"}, true, "recording api.yaml: 1 exchange"},
		{[]string{"API=http://127.0.0.1:9"}, true, ""},
		{[]string{"API=https://other.example"}, false, "error: stands_for: this is a recording of"},
	} {
		out, verdicts, passed := runSuite(t, suite, step.env, "-test.run", "^TestSuite$")
		if passed != step.passed || !strings.Contains(out, step.want) || passed && (verdicts["fetches"] != "pass" || verdicts["through_a_proxy"] != "pass") {
			t.Errorf("%s: %v\n%s", step.env, verdicts, out)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "api.yaml")); asked != 1 || !strings.Contains(string(text), "\nrandom:\n") {
		t.Errorf("%d requests, %v\n%s", asked, err, text)
	}
	if stored, err := filepath.Glob(filepath.Join(dir, "__snapshots__", "*")); len(stored) != 1 {
		t.Errorf("snapshots %q, %v", stored, err)
	}
}

// runSuite runs TestSuite with flags, and returns its output and the verdicts of
// the subtests.
func runSuite(t *testing.T, file string, env []string, flags ...string) (out string, verdicts map[string]string, passed bool) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, append([]string{"-test.v"}, flags...)...)
	cmd.Dir = filepath.Dir(file)
	cmd.Env = append(append(os.Environ(), "CI=", "GOAPI_SUITE="+filepath.Base(file)), env...)
	text, err := cmd.CombinedOutput()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	verdicts = map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^    --- (PASS|FAIL|SKIP): TestSuite/(.*) \(\d`).FindAllSubmatch(text, -1) {
		verdicts[string(m[2])] = strings.ToLower(string(m[1]))
	}
	return string(text), verdicts, err == nil
}

// The suites of the examples folder have the same results as with the command.
func TestExamplesAsGoTests(t *testing.T) {
	files, err := filepath.Glob("examples/*.yml")
	if err != nil || len(files) < 10 {
		t.Fatalf("found %d examples: %v", len(files), err)
	}
	for _, file := range append(files, "examples/hooks-context/sh.yml", "examples/fixtures-reset/mcptest.yaml") {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command("mcptest", "run", "--reporter", "json", filepath.Base(file))
			cmd.Dir, cmd.Env = filepath.Dir(file), append(os.Environ(), "CI=")
			report, err := cmd.Output()
			if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			var record struct {
				Tests []struct{ Name, Status string }
			}
			if err := json.Unmarshal(report, &record); err != nil {
				t.Fatal(err)
			}
			out, verdicts, passed := runSuite(t, file, nil, "-test.run=^TestSuite$")
			if wanted := cmd.ProcessState.ExitCode() == 0; passed != wanted {
				t.Errorf("passed is %v, want %v", passed, wanted)
			}
			for _, test := range record.Tests {
				want := strings.Replace(test.Status, "error", "fail", 1)
				if test.Name == "two answers to one request" {
					continue // the second one may arrive after the end of the test
				}
				if got := verdicts[strings.ReplaceAll(test.Name, " ", "_")]; got != want {
					t.Errorf("%s is %q, want %q", test.Name, got, want)
				}
			}
			if len(verdicts) != len(record.Tests) {
				t.Errorf("%d subtests, want %d", len(verdicts), len(record.Tests))
			}
			if t.Failed() {
				t.Log(out)
			}
		})
	}
}

// What -run and -skip select is run, and nothing else is called.
func TestSelection(t *testing.T) {
	const adds, negative, repeats, later = "adds_numbers", "adds/negative_numbers", "repeats_hello", "is_not_ready"
	for _, test := range []struct {
		flags []string
		want  []string
		calls int
	}{
		{[]string{"-test.run=TestSuite"}, []string{adds, negative, later, repeats}, 3},
		{[]string{"-test.run=TestSuite/adds"}, []string{adds, negative}, 2},
		{[]string{"-test.run=TestSuite/adds_numbers"}, []string{adds}, 1},
		{[]string{"-test.run=TestSuite/adds numbers"}, []string{adds}, 1},
		{[]string{"-test.run=TestSuite/^adds$/negative"}, []string{negative}, 1},
		{[]string{"-test.run=TestSuite/(repeats|not_ready)"}, []string{later, repeats}, 1},
		{[]string{"-test.run=TestSuite/repeats|TestSuite/ready"}, []string{later, repeats}, 1},
		{[]string{"-test.run=TestSuite/[r/]epeats"}, []string{repeats}, 1},
		{[]string{"-test.run=TestSuite", "-test.skip=/adds"}, []string{later, repeats}, 1},
		{[]string{"-test.run=TestSuite", "-test.skip=TestSuite/adds/negative"}, []string{adds, later, repeats}, 2},
		{[]string{"-test.run=TestSuite/nothing"}, nil, 0},
		{[]string{"-test.run=TestSuite/repeats_hello#00"}, nil, 3},
	} {
		t.Run(strings.Join(test.flags, " "), func(t *testing.T) {
			t.Parallel()
			out, verdicts, passed := runSuite(t, "testdata/goapi/suite.yaml", []string{"GOAPI_SERVER=1"}, test.flags...)
			var got []string
			for name := range verdicts {
				got = append(got, name)
			}
			slices.Sort(got)
			slices.Sort(test.want)
			if !passed || !slices.Equal(got, test.want) {
				t.Errorf("subtests %q, want %q\n%s", got, test.want, out)
			}
			if n := strings.Count(out, "called "); n != test.calls {
				t.Errorf("%d calls, want %d\n%s", n, test.calls, out)
			}
		})
	}
}

// Failures name the line of the suite and the line of the Go test.
func TestFailures(t *testing.T) {
	out, verdicts, passed := runSuite(t, "testdata/goapi/failing.yaml", []string{"GOAPI_SERVER=1"}, "-test.run=^TestSuite$")
	if passed || verdicts["adds_wrongly"] != "fail" || verdicts["never_answers"] != "fail" {
		t.Errorf("passed is %v, verdicts %v", passed, verdicts)
	}
	for _, want := range []string{"failing.yaml:9:9: ", "expected 6, got 5", "failing.yaml:11", "limit: timeout 100ms", "mcptest_test.go:", `go test -run '^TestSuite$/^adds_wrongly$'`} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q", want)
		}
	}
	if t.Failed() {
		t.Log(out)
	}
}

// A function of InProcess that opens no connection is named.
func TestNoConnection(t *testing.T) {
	for server, want := range map[string]string{
		"nothing": `InProcess("api"): the function returned neither a connection nor an error`,
		"panics":  `InProcess("api"): the function panicked at mcptest_test.go:`,
	} {
		out, verdicts, passed := runSuite(t, "testdata/goapi/failing.yaml", []string{"GOAPI_SERVER=" + server}, "-test.run=^TestSuite$")
		if passed || verdicts["adds_wrongly"] != "fail" || !strings.Contains(out, want) || strings.Contains(out, "internal error") {
			t.Errorf("%s: passed is %v, verdicts %v, the output should contain %q:\n%s", server, passed, verdicts, want, out)
		}
	}
}

// A failed cleanup is a warning.
func TestCleanupWarnings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cleanup.yaml")
	suite := `
servers: {api: {command: [none]}}
hooks: {afterEach: ["false"], afterAll: ["false"]}
teardown: [{run: ["false"]}]
tools: [{name: adds, tool: add, args: {a: 2, b: 3}}]
`
	if err := os.WriteFile(file, []byte(suite), 0o600); err != nil {
		t.Fatal(err)
	}
	out, _, passed := runSuite(t, file, []string{"GOAPI_SERVER=1"}, "-test.run=^TestSuite$")
	for _, want := range []string{"afterEach hook", "warning: afterAll hook", "warning: teardown step"} {
		if !passed || strings.Count(out, want) != 1 {
			t.Errorf("passed is %v; the output should contain %q once:\n%s", passed, want, out)
		}
	}
}

// With -failfast the run stops as well: the second case takes no time.
func TestFailFast(t *testing.T) {
	out, verdicts, passed := runSuite(t, "testdata/goapi/failing.yaml", []string{"GOAPI_SERVER=1"}, "-test.run=^TestSuite$", "-test.failfast")
	if passed || len(verdicts) != 1 {
		t.Errorf("passed is %v, verdicts %v\n%s", passed, verdicts, out)
	}
}

// A run that would outlast the deadline of the test binary ends before it, with
// its teardown.
func TestDeadline(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "slow.yaml")
	suite := `
servers: {api: {command: [none]}}
teardown: [{run: [touch, done]}]
tools: [{name: hangs, tool: hang, args: {text: x}}]
`
	if err := os.WriteFile(file, []byte(suite), 0o600); err != nil {
		t.Fatal(err)
	}
	for server, want := range map[string]string{"1": "-timeout ended the run", "blocks": `InProcess("api"): the function has not returned a connection`} {
		began := time.Now()
		out, _, passed := runSuite(t, file, []string{"GOAPI_SERVER=" + server}, "-test.run=^TestSuite$", "-test.timeout=4s")
		if passed || !strings.Contains(out, want) || strings.Contains(out, "panic") {
			t.Errorf("passed is %v after %v, the output should contain %q\n%s", passed, time.Since(began), want, out)
		}
		if err := os.Remove(filepath.Join(dir, "done")); err != nil {
			t.Errorf("the teardown did not run: %v\n%s", err, out)
		}
	}
}

// Package testing notes the files and variables that a result depends on, so that go test
// does not use a cached result after a part of the server has changed.
func TestCacheInputs(t *testing.T) {
	dir := t.TempDir()
	file, log := filepath.Join(dir, "s.yaml"), filepath.Join(dir, "log")
	if err := os.Mkdir(filepath.Join(dir, "lib"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"s.yaml":     "servers: {api: {command: [sh, run.sh]}}\ntools:\n  - {name: a b, tool: echo, args: {message: a}}\n  - {name: a_b, tool: none}\n",
		"run.sh":     ". ./lib/api.sh\n",
		"lib/api.sh": "exec mcptest mock --preset echo\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, verdicts, _ := runSuite(t, file, nil, "-test.run=^TestSuite$", "-test.testlogfile="+log)
	if verdicts["a_b"] != "pass" || verdicts["a_b#01"] != "fail" || !strings.Contains(out, "^a_b#01$") {
		t.Errorf("verdicts %v\n%s", verdicts, out)
	}
	if out, verdicts, _ := runSuite(t, file, nil, "-test.run=^TestSuite$", "-test.skip=^TestSuite$/^a_b$"); verdicts["a_b#01"] != "fail" {
		t.Errorf("verdicts with -skip %v\n%s", verdicts, out)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"open " + dir, "open " + filepath.Join(dir, "lib"), "getenv PATH"} {
		if !strings.Contains(string(text), want+"\n") {
			t.Errorf("the log lacks %q", want)
		}
	}
}

func TestValidate(t *testing.T) {
	open := numbers(make(chan string, 1))
	for _, test := range []struct {
		file    string
		options []mcptest.Option
		want    []string
	}{
		{"testdata/goapi/suite.yaml", nil, nil},
		{"examples/hello.yml", []mcptest.Option{mcptest.InProcess("ech*", open)}, nil},
		{"testdata/goapi/none.yaml", nil, []string{"none.yaml"}},
		{"testdata/goapi/suite.yaml", []mcptest.Option{mcptest.Var("wrod", "x")}, []string{`called "wrod"`, `did you mean "word"?`}},
		{"testdata/goapi/suite.yaml", []mcptest.Option{mcptest.RecordUpstreams("hub")}, []string{`RecordUpstreams: no upstream is called "hub" (the suites have no upstreams)`}},
		{"testdata/goapi/suite.yaml", []mcptest.Option{mcptest.InProcess("apis", open)}, []string{`no server called "apis"`, `did you mean "api"?`}},
	} {
		err := mcptest.Validate(test.file, test.options...)
		if (err != nil) != (test.want != nil) {
			t.Errorf("%s: %v", test.file, err)
			continue
		}
		for _, want := range test.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: the error lacks %q: %v", test.file, want, err)
			}
		}
	}
}
