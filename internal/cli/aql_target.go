package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mcptest/internal/mcp"
	"mcptest/internal/proc"
	"mcptest/internal/secret"
)

// aqlTargetFlags are the options that say which adapter is meant.
func aqlTargetFlags() []aqlFlag {
	return []aqlFlag{
		{"stdio", "", "a command line, words as in a shell", "start the adapter with this command and speak over its standard input and output", anyValue, false},
		{"url", "", "an http or https address", "speak with an adapter that runs at this address", anyValue, false},
		many(aqlFlag{"env", "", "NAME=value", "add a variable to the environment of --stdio (may be repeated)", assignment, false}),
		many(aqlFlag{"pass-env", "", "a name", "pass a variable of this environment on to --stdio (may be repeated)", anyValue, false}),
		many(aqlFlag{"header", "", "Name: value", "send a header with every request to --url (may be repeated)", headerLine, false}),
		{"bearer-env", "", "a name", "send the value of this variable as bearer token to --url", anyValue, false},
		{"isolate-home", "", "", "start --stdio in an empty folder that is also its home, and remove it afterwards", nil, false},
		{"call-timeout", "", "a duration such as 30s", "time for one call (default 30s)", duration, false},
	}
}

func assignment(s string) (string, error) {
	if name, _, ok := strings.Cut(s, "="); !ok || name == "" {
		return "", fmt.Errorf("want NAME=value; got %q", s)
	}
	return s, nil
}

func headerLine(s string) (string, error) {
	if name, _, ok := strings.Cut(s, ":"); !ok || strings.TrimSpace(name) == "" {
		return "", errors.New("want \"Name: value\"")
	}
	return s, nil
}

func duration(s string) (string, error) {
	if d, err := time.ParseDuration(s); err != nil || d <= 0 {
		return "", fmt.Errorf("want a duration such as 30s or 5m; got %q", s)
	}
	return s, nil
}

// passedEnv are the variables that a started adapter always gets: what
// programs need to run at all, and nothing that could be a secret.
var passedEnv = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TMPDIR", "TZ", "TERM",
	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES",
}

// aqlTarget is the adapter of a command line.
type aqlTarget struct {
	argv, single []string
	env          []string
	url, urlOne  string
	header       http.Header
	keeper       proc.Keeper
	secrets      []string // of headers and of the environment
	home         string   // a folder of its own, "" for none
}

// target reads the options; false after a mistake.
func (c *aqlCall) target() (*aqlTarget, bool) {
	t := &aqlTarget{url: c.flags["url"], urlOne: c.flags["single-url"], header: http.Header{}}
	line, started := c.flags["stdio"]
	if started == (t.url != "") {
		c.problem("want either --stdio or --url")
		return nil, false
	}
	ok := true
	split := func(flag, line string) []string {
		words, err := proc.Split(line)
		if err != nil {
			c.problem("--%s: %s", flag, err)
			ok = false
		}
		var argv []string
		for _, w := range words {
			argv = append(argv, w.Text)
		}
		if len(argv) == 0 && err == nil {
			c.problem("--%s: the command is empty", flag)
			ok = false
		}
		return argv
	}
	if started {
		t.argv = split("stdio", line)
	}
	if line, given := c.flags["single-command"]; given {
		t.single = split("single-command", line)
	}
	pass := append(slices.Clone(passedEnv), c.all("pass-env")...)
	for _, e := range c.Env {
		name, _, _ := strings.Cut(e, "=")
		if slices.ContainsFunc(pass, func(p string) bool { return strings.EqualFold(p, name) }) {
			t.env = append(t.env, e)
		}
	}
	if c.flags["isolate-home"] != "" {
		if err := t.isolate(); err != nil {
			c.problem("--isolate-home: %s", err)
			return nil, false
		}
	}
	t.env = append(t.env, c.all("env")...)
	t.secrets = c.secretValues()
	for _, h := range c.all("header") {
		name, value, _ := strings.Cut(h, ":")
		t.header.Add(strings.TrimSpace(name), strings.TrimSpace(value))
		t.secrets = append(t.secrets, strings.TrimSpace(value))
	}
	if name, given := c.flags["bearer-env"]; given {
		value := lookupEnv(c.Env, name)
		if value == "" {
			c.problem("--bearer-env: the variable %s is not set", name)
			ok = false
		}
		t.header.Set("Authorization", "Bearer "+value)
		t.secrets = append(t.secrets, value)
	}
	return t, ok
}

// isolate gives the adapter an empty folder as home and working directory.
// Words of its command that name files here keep their meaning.
func (t *aqlTarget) isolate() error {
	if t.argv == nil {
		return errors.New("only an adapter that --stdio starts has a home")
	}
	dir, err := os.MkdirTemp("", aqlName+"-")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	t.home = dir
	for _, argv := range [][]string{t.argv, t.single} {
		for i, word := range argv {
			if _, err := os.Lstat(word); err != nil || filepath.IsAbs(word) || i == 0 && !strings.ContainsAny(word, `/\`) {
				continue
			}
			if argv[i], err = filepath.Abs(word); err != nil {
				return fmt.Errorf("find %s: %w", word, err)
			}
		}
	}
	for _, name := range []string{
		"HOME", "USERPROFILE", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR",
		"APPDATA", "LOCALAPPDATA", "TMPDIR", "TEMP", "TMP",
	} {
		t.env = slices.DeleteFunc(t.env, func(e string) bool { return strings.HasPrefix(e, name+"=") })
		t.env = append(t.env, name+"="+dir)
	}
	return nil
}

// end removes what was made for the adapter.
func (t *aqlTarget) end() {
	if t.home != "" {
		_ = os.RemoveAll(t.home)
	}
}

// secretValues are the values of --env whose names sound like secrets, and
// of every --pass-env: what is in the environment already has no other reason
// to be named.
func (c *aqlCall) secretValues() (values []string) {
	for _, e := range c.all("env") {
		if name, value, _ := strings.Cut(e, "="); secret.Name(name) {
			values = append(values, value)
		}
	}
	for _, name := range c.all("pass-env") {
		if v := lookupEnv(c.Env, name); v != "" && !slices.ContainsFunc(passedEnv, func(p string) bool { return strings.EqualFold(p, name) }) {
			values = append(values, v)
		}
	}
	return values
}

// dial opens a session; a variant is another endpoint mode.
func (t *aqlTarget) dial(ctx context.Context, variant string) (*mcp.Session, error) {
	argv, address, env := t.argv, t.url, t.env
	switch {
	case variant == "":
	case variant == "single" && t.single != nil:
		argv = t.single
	case variant == "single" && t.urlOne != "":
		address = t.urlOne
	case t.url != "" || t.single != nil:
		return nil, nil
	default:
		env = append(slices.Clone(env), "MCP_AQL_ENDPOINT_MODE="+variant)
	}
	var tr mcp.Transport
	var err error
	if address != "" {
		tr, err = mcp.NewHTTP(address, mcp.HTTPOptions{Header: t.header, UserAgent: aqlName})
	} else {
		tr, err = mcp.NewStdio(ctx, proc.Spec{Argv: argv, Dir: t.home, Env: env, Keeper: t.keeper}, mcp.StdioOptions{})
	}
	if err != nil {
		return nil, err
	}
	return mcp.Open(ctx, tr, mcp.Options{Client: mcp.Implementation{Name: aqlName, Version: version()}})
}

// shown is the adapter without secrets: no environment, no headers, nothing
// of an address that could be one.
func (t *aqlTarget) shown() string {
	if t.url == "" {
		return proc.QuoteAll(t.argv)
	}
	u, err := url.Parse(t.url)
	if err != nil {
		return "(an address)"
	}
	u.User, u.RawQuery = nil, ""
	return u.String()
}

// repeat is how a command line begins that repeats one call.
func (t *aqlTarget) repeat() string {
	if t.url == "" {
		return aqlName + " call --stdio " + proc.Quote(proc.QuoteAll(t.argv))
	}
	return aqlName + " call --url " + proc.Quote(t.shown())
}

// stateDir is where journals of live runs are kept.
func stateDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a folder for the journal: %w", err)
	}
	return dir + string(os.PathSeparator) + aqlName, nil
}
