package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcptest/internal/cli"
	"mcptest/internal/cli/cmdutil"
)

// mockRun runs `mcptest mock` in process on one line of input.
func mockRun(in string, args ...string) (code int, out, errs string) {
	var o, e bytes.Buffer
	code = cli.Main(append([]string{"mock"}, args...), cmdutil.Streams{In: strings.NewReader(in), Out: &o, Err: &e})
	return code, o.String(), e.String()
}

func TestMockUsage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.yaml")
	if err := os.WriteFile(bad, []byte("mock_server:\n  nmae: x\n  tools: [{name: t, response: '${arg.x}'}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want []string
	}{
		{nil, []string{"expected exactly one of --tools-from FILE and --preset NAME (echo, everything, evil)"}},
		{[]string{"--preset", "echo", "--tools-from", "x"}, []string{"expected exactly one of"}},
		{[]string{"--preset", "evrything"}, []string{`unknown preset "evrything" (did you mean "everything"?)`}},
		{[]string{"--preset", "echo", "--fault", "slwo:3"}, []string{`unknown fault "slwo:3" (did you mean "slow"?)`}},
		{[]string{"--preset", "echo", "extra"}, []string{"extra"}},
		{[]string{"--show"}, []string{"--show requires --preset NAME"}},
		{[]string{"--tools-from", filepath.Join(dir, "none.yaml")}, []string{"none.yaml", "no such file"}},
		{[]string{"--tools-from", dir}, []string{"this is a directory"}},
		{[]string{"--tools-from", bad}, []string{
			`:2:3: error: mock_server: unknown key "nmae" (did you mean "name"?)`, "^",
			`:3:32: error: mock_server.tools[0].response: unknown name "arg" (did you mean "args"?)`, "2 errors in the manifest",
		}},
	} {
		code, out, errs := mockRun("", c.args...)
		if code != 2 || out != "" {
			t.Errorf("%q: exit code %d, output %q, want 2 and nothing", c.args, code, out)
		}
		for _, want := range c.want {
			if !strings.Contains(errs, want) {
				t.Errorf("%q says %q, want %q in it", c.args, errs, want)
			}
		}
	}
}

func TestMockServes(t *testing.T) {
	t.Parallel()
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hi"}}}` + "\n"
	code, out, errs := mockRun(call, "--preset", "echo")
	if want := `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"hi"}]}}` + "\n"; code != 0 || out != want || errs != "" {
		t.Errorf("exit code %d, output %q, errors %q", code, out, errs)
	}
	_, out, _ = mockRun(call, "--preset", "echo", "--fault", "recover-after:1")
	if !strings.Contains(out, "not ready yet") {
		t.Errorf("with a fault: %q", out)
	}
	code, out, errs = mockRun(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"crash"}}`+"\n", "--preset", "evil")
	if code != 7 || out != "" || errs != "panic: evil\n" {
		t.Errorf("crash: exit code %d, output %q, errors %q", code, out, errs)
	}
}

// Every preset can be printed, and the output is a manifest.
func TestMockShow(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"echo", "everything", "evil"} {
		code, out, errs := mockRun("", "--preset", name, "--show")
		if code != 0 || errs != "" {
			t.Fatalf("%s: exit code %d, errors %q", name, code, errs)
		}
		file := filepath.Join(t.TempDir(), "m.yaml")
		if err := os.WriteFile(file, []byte(out), 0o600); err != nil {
			t.Fatal(err)
		}
		if code, _, errs := mockRun("", "--tools-from", file); code != 0 || errs != "" {
			t.Errorf("%s: exit code %d, errors %q", name, code, errs)
		}
	}
}
