package proc

import (
	"strings"
	"testing"
)

func TestHintsOnWindows(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"seed.ps1": "[powershell, -NoProfile, -ExecutionPolicy, Bypass, -File, seed.ps1]",
		"seed.sh":  "[bash, seed.sh]", "server.js": "[node, server.js]", "Server.PY": "[python, Server.PY]",
		"server.ts": "[npx, tsx, server.ts]", "server": ".exe, .com, .cmd and .bat",
	} {
		if got := windowsFileHint(path); !strings.Contains(got, want) {
			t.Errorf("windowsFileHint(%q) = %q, want %q", path, got, want)
		}
	}
	for program, want := range map[string]string{
		"echo": `[cmd, /c, "echo …"]`, "DIR": "command of cmd.exe", "export": "POSIX shell", "node": "",
	} {
		if got := windowsCommandHint(program); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("windowsCommandHint(%q) = %q, want %q", program, got, want)
		}
	}
}
