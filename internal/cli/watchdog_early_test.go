package cli_test

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"mcptest/internal/process/watchdog"
)

// TestWatchdogComesFirst checks the order of package initialization: an unused watchdog
// exits before slow packages are initialized.
func TestWatchdogComesFirst(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no watchdog here")
	}
	cmd := exec.Command(os.Args[0], watchdog.Arg)
	cmd.Env = []string{"GODEBUG=inittrace=1"}
	cmd.Stdin = strings.NewReader("mark x\nbye\n")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "init os @") {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, late := range []string{"jsonschema", "net/http", "crypto/x509", "yaml", "mcptest/"} {
		if strings.Contains(string(out), late) {
			t.Errorf("%s was initialized first:\n%s", late, out)
		}
	}
}
