package option

import (
	"cmp"
	"os/exec"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/client/auth"
	"mcptest/internal/process/proc"
	"mcptest/internal/run/connect"
	"mcptest/internal/spec/plan"
)

// tokenFileEnv is the variable with the path of the token file, unless a flag sets
// it.
const tokenFileEnv = "MCPTEST_TOKEN_FILE"

// AddTokenFile defines --token-file.
func AddTokenFile(cmd *cobra.Command, to *string) {
	cmd.Flags().StringVar(to, "token-file", "", "`file` that stores the tokens of logins (default: $"+tokenFileEnv+", or mcptest/tokens.json in your configuration directory)")
}

// TokenPath returns the path of the file with user logins.
func TokenPath(flag string, s cmdutil.Streams) (string, error) {
	if flag != "" {
		return flag, nil
	}
	if path := cmdutil.LookupEnv(s.Env, tokenFileEnv); path != "" {
		return path, nil
	}
	path, err := auth.FindDefaultStore()
	if err != nil {
		return "", Invalid("%v: use --token-file or set %s", err, tokenFileEnv)
	}
	return path, nil
}

// newNoToken returns a function that returns why a server that requires a login cannot
// be used, or "". lost is the reason why there is no token file: a program without a
// home directory (cron, a container) may not need one.
func newNoToken(path string, lost error) func(*plan.Server) string {
	store := auth.OpenStore(path)
	return func(sv *plan.Server) string {
		if lost != nil {
			return "the stored logins can't be read: " + lost.Error()
		}
		c := connect.OAuth(sv)
		client := cmp.Or(c.ClientID, c.ClientMetadataURL)
		l, err := store.Find(auth.Query{Server: c.Resource, Issuer: c.Issuer, Client: client})
		switch {
		case err != nil:
			return err.Error()
		case l == nil:
			return "not logged in to " + auth.MakeServerKey(c.Resource)
		}
		return ""
	}
}

// NeedLogins returns an error for a run without a required login: the environment is
// invalid.
func (f *SuiteFlags) NeedLogins(s cmdutil.Streams, p *plan.Plan, tokens string, lost error) error {
	if diags := plan.NeedLogin(p, newNoToken(tokens, lost)); diags.HasErrors() {
		f.Print(s, diags)
		return Invalid("a login is missing; nothing was run")
	}
	return nil
}

// OpenBrowser opens an address in the user's browser: that of the variable BROWSER,
// or the system's. It reports whether there is a browser.
func OpenBrowser(s cmdutil.Streams, address string) bool {
	var argv []string
	named := strings.Fields(cmdutil.LookupEnv(s.Env, "BROWSER"))
	switch {
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
	if err := proc.EscapeBatch(cmd); err != nil {
		return false
	}
	if err := cmd.Start(); err != nil {
		return false
	}
	go func() { _ = cmd.Wait() }() // it may keep running
	return true
}

// EnvSet returns an error if the environment lacks a variable of a flag.
func EnvSet(env []string, flag string, names ...string) error {
	for _, name := range names {
		if name, _, ok := strings.Cut(name, "="); ok {
			return Invalid("%s: expected the name of an environment variable without its value: %s", flag, name)
		}
		if cmdutil.LookupEnv(env, name) == "" {
			return Invalid("%s: the environment variable %s is not set", flag, name)
		}
	}
	return nil
}
