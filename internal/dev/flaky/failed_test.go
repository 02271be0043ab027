package flaky_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// What CI repeats is the part that failed, not all the tests that are beside it.
func TestFailedNamesTheParts(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash")
	}
	const parts = `--- FAIL: TestScripts (0.00s)
    --- FAIL: TestScripts/reports (0.00s)
        --- FAIL: TestScripts/reports/meanwhile (10.86s)
            testscript.go:609: > exec mcptest
FAIL
FAIL	mcptest/internal/cli	606.221s
ok  	mcptest/internal/run/probe	174.351s
--- FAIL: TestAlone (0.10s)
    alone_test.go:7: no
--- FAIL: TestTable (0.00s)
    --- FAIL: TestTable/a+b_(c) (0.00s)
FAIL
FAIL	mcptest/internal/model	1.2s
FAIL
`
	for _, c := range []struct{ name, log, want string }{
		{"parts", parts, "mcptest/internal/cli\t^TestScripts$/^reports$/^meanwhile$\n" +
			"mcptest/internal/model\t^TestAlone$\n" +
			`mcptest/internal/model` + "\t" + `^TestTable$/^a\+b_\(c\)$` + "\n"},
		{"green", "ok  \tmcptest/internal/cli\t6.2s\n", ""},
		{"panic", parts + "panic: test timed out after 10m0s\n", ""},
		{"race", "WARNING: DATA RACE\n" + parts, ""},
		{"build", parts + "FAIL\tmcptest/internal/run [build failed]\n", ""},
		{"no test", "FAIL\tmcptest/internal/run\t0.1s\n", ""},
		{"many", parts + "--- FAIL: TestFourth (0.10s)\nFAIL\tmcptest/internal/run\t0.1s\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			log := filepath.Join(t.TempDir(), "log")
			if err := os.WriteFile(log, []byte(c.log), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command("bash", "../../../tools/failed", log).Output()
			if c.want == "" {
				if err == nil {
					t.Errorf("exit 0, expected a failure: %s", out)
				}
				return
			}
			if err != nil || string(out) != c.want {
				t.Errorf("%v: %q, expected %q", err, out, c.want)
			}
		})
	}
}
