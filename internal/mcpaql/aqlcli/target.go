package aqlcli

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

	"mcptest/internal/base/secret"
	"mcptest/internal/base/shellwords"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/wire"
	"mcptest/internal/process/proc"
)

// newTargetOptions returns the options that select the adapter.
func newTargetOptions() []option {
	return []option{
		{long: "stdio", value: "command", doc: "start the adapter with this command, words as in a shell, and connect over stdio"},
		{long: "url", value: "url", doc: "connect to an adapter at this http or https address"},
		{long: "env", value: "NAME=value", doc: "add a variable to the environment of --stdio (may be repeated)", check: parseAssignment, many: true},
		{long: "pass-env", value: "name", doc: "pass a variable of this environment on to --stdio (may be repeated)", many: true},
		{long: "header", value: "header", doc: "send a header, such as \"Name: value\", with every request to --url (may be repeated)", check: parseHeaderLine, many: true},
		{long: "bearer-env", value: "name", doc: "send the value of this variable as bearer token to --url"},
		{long: "isolate-home", doc: "start --stdio in an empty folder that is also its home, and remove it afterwards"},
		{long: "call-timeout", value: "duration", doc: "time for one call, such as 30s (default 30s), and for the handshake (default 60s)", check: parseDuration},
	}
}

func parseAssignment(s string) (string, error) {
	name, _, ok := strings.Cut(s, "=")
	return expect(s, ok && name != "", "NAME=value")
}

func parseHeaderLine(s string) (string, error) {
	if name, _, ok := strings.Cut(s, ":"); !ok || strings.TrimSpace(name) == "" {
		return "", errors.New("expected \"Name: value\"")
	}
	return s, nil
}

func parseDuration(s string) (string, error) {
	d, err := time.ParseDuration(s)
	return expect(s, err == nil && d > 0, "a duration such as 30s or 5m")
}

// passedEnv lists the variables that a started adapter always gets: those that
// programs need to run at all, and none that could be a secret.
var passedEnv = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TMPDIR", "TZ", "TERM",
	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES",
}

// target is the adapter that a command line names.
type target struct {
	argv, single []string
	env          []string
	url, urlOne  string
	header       http.Header
	handshake    time.Duration // its limit, 0 for the default
	registry     *proc.Registry
	secrets      []string // of headers and of the environment
	home         string   // a folder of its own, "" for none
}

// readTarget reads the options; it returns false after a mistake.
func (c *call) readTarget() (*target, bool) {
	t := &target{url: c.flags["url"], urlOne: c.flags["single-url"], header: http.Header{}}
	line, started := c.flags["stdio"]
	if started == (t.url != "") {
		return nil, c.refuse("expected either --stdio or --url")
	}
	// A header that is not sent looks like an adapter that rejects it.
	ok := true
	switch {
	case started && t.urlOne == "":
		ok = c.refuseFlags("--%s has no effect without --url", "header", "bearer-env")
	case !started && c.flags["single-command"] == "":
		ok = c.refuseFlags("--%s has no effect without --stdio", "env", "pass-env")
	}
	t.handshake, _ = time.ParseDuration(c.flags["call-timeout"])
	split := func(flag, line string) []string {
		argv, err := shellwords.Argv(line)
		if err == nil && len(argv) == 0 {
			err = errors.New("the command is empty")
		}
		if err != nil {
			ok = c.refuse("--%s: %s", flag, err)
		}
		return argv
	}
	if started {
		t.argv = split("stdio", line)
	}
	if line, given := c.flags["single-command"]; given {
		t.single = split("single-command", line)
	}
	pass := append(slices.Clone(passedEnv), c.getAll("pass-env")...)
	t.env = slices.DeleteFunc(slices.Clone(c.Env), func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		return !slices.ContainsFunc(pass, func(p string) bool { return strings.EqualFold(p, name) })
	})
	if c.flags["isolate-home"] != "" {
		if err := t.isolate(); err != nil {
			return nil, c.refuse("--isolate-home: %s", err)
		}
	}
	t.env = append(t.env, c.getAll("env")...)
	t.secrets = c.listSecretValues()
	for _, h := range c.getAll("header") {
		t.addHeader(h)
	}
	if name, given := c.flags["bearer-env"]; given {
		value := cmdutil.LookupEnv(c.Env, name)
		if value == "" {
			ok = c.refuse("--bearer-env: the variable %s is not set", name)
		}
		t.header.Set("Authorization", "Bearer "+value)
		t.secrets = append(t.secrets, value)
	}
	return t, ok
}

// addHeader adds a header, whose value is a secret.
func (t *target) addHeader(h string) {
	name, value, _ := strings.Cut(h, ":")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	t.header.Add(name, value)
	t.secrets = append(t.secrets, value)
	if _, credential, ok := strings.Cut(value, " "); ok && strings.EqualFold(name, "Authorization") {
		t.secrets = append(t.secrets, credential)
	}
}

// isolate gives the adapter an empty folder as home and working directory. Arguments
// of its command that name files here keep their meaning.
func (t *target) isolate() error {
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

// listSecretValues returns the values of --env whose names suggest secrets, and those of
// every --pass-env: a variable is usually passed on because it holds a secret.
func (c *call) listSecretValues() []string {
	var values []string
	for _, e := range c.getAll("env") {
		name, value, _ := strings.Cut(e, "=")
		if secret.Name(name) {
			values = append(values, value)
		}
	}
	for _, name := range c.getAll("pass-env") {
		v := cmdutil.LookupEnv(c.Env, name)
		isUsual := slices.ContainsFunc(passedEnv, func(p string) bool { return strings.EqualFold(p, name) })
		if v != "" && !isUsual {
			values = append(values, v)
		}
	}
	return values
}

// dial opens a session; a variant is another endpoint mode.
func (t *target) dial(ctx context.Context, variant string) (*mcp.Session, error) {
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
	var tr wire.Transport
	var err error
	if address != "" {
		tr, err = wire.NewHTTP(address, wire.HTTPOptions{Header: t.header, UserAgent: aqlName, Patience: httpPatience})
	} else {
		// The process outlives ctx: a run that is ended still has to remove
		// what it created. Closing the session ends it.
		tr, err = wire.NewStdio(context.WithoutCancel(ctx), proc.Spec{
			Argv:     argv,
			Dir:      t.home,
			Env:      env,
			Registry: t.registry,
		}, wire.StdioOptions{})
	}
	if err != nil {
		return nil, err
	}
	return mcp.Open(ctx, tr, mcp.Options{ConnectTimeout: t.handshake, Client: mcp.Implementation{Name: aqlName, Version: cmdutil.Version()}})
}

// httpPatience is how often a request is sent again after 429 or 503.
const httpPatience = 8

// describe returns the adapter without secrets: no environment, no headers, and no part
// of an address that could be one.
func (t *target) describe() string {
	if t.url == "" {
		return shellwords.QuoteAllForShell(t.argv)
	}
	u, err := url.Parse(t.url)
	if err != nil {
		return "(an address)"
	}
	u.User, u.RawQuery = nil, ""
	return u.String()
}

// repeat returns the beginning of a command line that repeats one call, with the
// options that select the adapter. The values of headers, and those of the environment that
// could be a secret, are read from variables with their names.
func (c *call) repeat(t *target) string {
	words := aqlName + " call"
	if t.url != "" {
		words += " --url " + shellwords.QuoteForShell(t.describe())
		for _, h := range c.getAll("header") {
			name, _, _ := strings.Cut(h, ":")
			value := shellwords.SpellVariable(strings.ToUpper(makeShellVariable(name)))
			words += ` --header "` + strings.TrimSpace(name) + ": " + value + `"`
		}
		if name, given := c.flags["bearer-env"]; given {
			words += " --bearer-env " + shellwords.QuoteForShell(name)
		}
		return words
	}
	words += " --stdio " + shellwords.QuoteForShell(c.flags["stdio"])
	for _, e := range c.getAll("env") {
		words += " --env " + repeatEnv(e)
	}
	for _, name := range c.getAll("pass-env") {
		words += " --pass-env " + shellwords.QuoteForShell(name)
	}
	if t.home != "" {
		words += " --isolate-home"
	}
	return words
}

// repeatEnv returns a word for --env: NAME=value, or NAME="$NAME" if the value could be a
// secret.
func repeatEnv(e string) string {
	name, value, _ := strings.Cut(e, "=")
	known := secret.NewProgram()
	known.AddVariable(name, value)
	named := secret.Name(name) || secret.HoldsText(name, value)
	if named || len(known.Secrets()) > 0 || secret.NewRedactor().String(value) != value {
		return shellwords.QuoteForShell(name) + `="` + shellwords.SpellVariable(makeShellVariable(name)) + `"`
	}
	return shellwords.QuoteForShell(name) + "=" + shellwords.QuoteForShell(value)
}

// makeShellVariable returns the name of a variable for the value of a header or of a
// variable that a shell cannot name.
func makeShellVariable(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r|0x20 >= 'a' && r|0x20 <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.TrimSpace(name))
}

// findStateDir returns the folder of the journals of live runs.
func findStateDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a folder for the journal: %w", err)
	}
	return dir + string(os.PathSeparator) + aqlName, nil
}
