package option

import (
	"os/exec"
	"runtime"
	"strings"

	"mcptest/internal/cmdutil"
)

// OpenBrowser opens an address in the user's browser: that of the variable BROWSER,
// or the system's. It reports whether there is a browser.
func OpenBrowser(s cmdutil.Streams, address string) bool {
	var argv []string
	switch named := strings.Fields(cmdutil.LookupEnv(s.Env, "BROWSER")); {
	case len(named) > 0:
		argv = named
	case runtime.GOOS == "windows":
		argv = []string{"rundll32", "url.dll,FileProtocolHandler"}
	case runtime.GOOS == "darwin":
		argv = []string{"open"}
	case cmdutil.LookupEnv(s.Env, "DISPLAY") == "" && cmdutil.LookupEnv(s.Env, "WAYLAND_DISPLAY") == "":
		return false // no display
	default:
		argv = []string{"xdg-open"}
	}
	cmd := exec.Command(argv[0], append(argv[1:], address)...)
	cmd.Env = s.Env
	if err := cmd.Start(); err != nil {
		return false
	}
	go func() { _ = cmd.Wait() }() // it may keep running
	return true
}
