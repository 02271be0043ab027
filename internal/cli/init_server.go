package cli

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"mcptest/internal/cmdutil"
	"mcptest/internal/draft"
	"mcptest/internal/proc"
	"mcptest/internal/secret"
)

// suite makes the suite with nothing but the server in it.
func (f *initFlags) suite(cmd *cobra.Command, args []string, s cmdutil.Streams) (*draft.Suite, error) {
	argv, err := f.argv(cmd, args)
	if err != nil {
		return nil, err
	}
	if f.timeout <= 0 || f.connectTimeout <= 0 {
		return nil, fail(exitInvalid, "--timeout and --connect-timeout must be greater than zero")
	}
	name := f.name
	if name == "" {
		name = "server"
	}
	su := &draft.Suite{Name: name, Server: draft.Server{Name: name, Transport: unlessAuto(f.transport), Protocol: unlessAuto(f.protocol)}}
	for _, n := range f.env {
		if cmdutil.LookupEnv(s.Env, n) == "" {
			return nil, fail(exitInvalid, "--env: the environment variable %s is not set", n)
		}
		su.Server.Env = append(su.Server.Env, n)
		if value := cmdutil.LookupEnv(s.Env, n); isPlain(n, value) {
			su.Server.Plain = append(su.Server.Plain, n)
			if strings.ContainsAny(value, `/\`) && !strings.Contains(value, "://") {
				su.Local = append(su.Local, value)
			}
		} else {
			f.secretWords = append(f.secretWords, value)
		}
	}
	if len(argv) > 0 {
		su.Server.Command = f.words(argv)
		err = f.cwd(su)
	} else {
		err = f.address(su, s)
	}
	if err != nil {
		return nil, err
	}
	su.Server.Env = append(su.Server.Env, f.placed(su)...)
	su.Local = append(su.Local, local()...)
	return su, nil
}

// argv is the server's command; nil for a server with an address.
func (f *initFlags) argv(cmd *cobra.Command, args []string) ([]string, error) {
	var t targetFlags
	_, argv, err := t.split(cmd, args, 0)
	if err != nil {
		return nil, err
	}
	given := 0
	for _, b := range []bool{len(argv) > 0, f.command != "", f.url != ""} {
		if b {
			given++
		}
	}
	if given != 1 {
		return nil, fail(exitInvalid, "expected exactly one server: --command LINE, --url URL, or -- command args… (to try it: mcptest init -- mcptest mock --preset echo)")
	}
	if f.url == "" && (len(f.headers) > 0 || f.bearerEnv != "" || f.caFile != "" || f.insecure) {
		return nil, fail(exitInvalid, "-H, --bearer-token-env, --ca-file and --insecure require --url")
	}
	if f.command == "" {
		return argv, nil
	}
	words, err := proc.Split(f.command)
	if err != nil {
		return nil, fail(exitInvalid, "--command: %v", err)
	}
	for _, w := range words {
		argv = append(argv, w.Text)
	}
	if len(argv) == 0 {
		return nil, fail(exitInvalid, "--command: the line is empty")
	}
	return argv, nil
}

func unlessAuto(value string) string {
	if value == "auto" {
		return ""
	}
	return value
}

// words are the words of a command as the suite has them: a secret among them
// is taken from the environment.
func (f *initFlags) words(argv []string) []string {
	found := secret.NewRedactor()
	out := make([]string, len(argv))
	for i, word := range argv {
		flag, value, joined := strings.Cut(word, "=")
		switch {
		case i > 0 && strings.HasPrefix(argv[i-1], "-") && !strings.HasPrefix(word, "-") && secret.Name(strings.TrimLeft(argv[i-1], "-")):
			out[i] = f.hide("", argv[i-1], word)
		case joined && secret.Name(strings.TrimLeft(flag, "-")):
			out[i] = escapeVar(flag) + "=" + f.hide("", flag, value)
		case found.String(word) != word:
			out[i] = f.hide("", fmt.Sprintf("argument %d of the command", i), word)
		default:
			out[i] = escapeVar(word)
		}
	}
	return out
}

// hide keeps a value out of the suite: it returns the placeholder that stands
// for it there. What says whose value it is.
func (f *initFlags) hide(name, what, value string) string {
	if name == "" {
		name = fmt.Sprintf("MCPTEST_SECRET_%d", len(f.secretNames)+1)
	}
	f.secretNames = append(f.secretNames, name)
	f.secretNotes = append(f.secretNotes, name+" (the value of "+what+")")
	f.secretWords = append(f.secretWords, value)
	f.secretVars = append(f.secretVars, name+"="+value)
	return "${" + name + "}"
}

func escapeVar(s string) string { return strings.ReplaceAll(s, "${", "$${") }

// placed are the hidden values that a placeholder in the suite stands for.
func (f *initFlags) placed(su *draft.Suite) []string {
	var out []string
	text := strings.Join(su.Server.Command, " ") + su.Server.URL
	for _, n := range f.secretNames {
		if strings.Contains(text, "${"+n+"}") {
			out = append(out, n)
		}
	}
	return out
}

// cwd keeps the server in the folder of now when the suite lies elsewhere.
func (f *initFlags) cwd(su *draft.Suite) error {
	dir, err := filepath.Abs(filepath.Dir(f.output))
	if err != nil {
		return fail(exitInternal, "find the folder of %s: %v", f.output, err)
	}
	here, err := os.Getwd()
	if err != nil {
		return fail(exitInternal, "find the current folder: %v", err)
	}
	if rel, err := filepath.Rel(dir, here); err == nil && rel != "." {
		su.Server.Cwd = escapeVar(filepath.ToSlash(rel))
	}
	return nil
}

// isPlain reports whether the value of an environment variable is a port, a
// switch, a path or an address rather than a secret.
func isPlain(name, value string) bool {
	if secret.Name(name) || secret.NewRedactor().String(value) != value {
		return false
	}
	if _, err := strconv.ParseUint(value, 10, 16); err == nil {
		return true
	}
	if _, err := strconv.ParseBool(value); err == nil {
		return true
	}
	if u, err := url.Parse(value); err == nil && u.Host != "" {
		return u.User == nil && u.RawQuery == ""
	}
	if !strings.ContainsAny(value, `/\`) {
		return false
	}
	if _, err := os.Stat(value); err == nil {
		return true
	}
	dir := filepath.Dir(value)
	_, err := os.Stat(dir)
	return err == nil && dir != filepath.Dir(dir) && dir != "."
}

// address fills in a server that is reached by HTTP.
func (f *initFlags) address(su *draft.Suite, s cmdutil.Streams) error {
	found := secret.NewRedactor()
	u, err := url.Parse(f.url)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return fail(exitInvalid, "--url: %q is not an http or https address", found.String(f.url))
	}
	su.Server.URL = escapeVar(f.url)
	if _, password := u.User.Password(); password || found.String(f.url) != f.url {
		su.Server.URL = f.hide("MCPTEST_URL", "--url", f.url)
	}
	for _, h := range f.headers {
		name, value, ok := strings.Cut(h, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !ok || !headerName(name) || strings.ContainsAny(value, "\r\n\x00") {
			return fail(exitInvalid, "-H: expected 'Name: value' (the argument is not shown because it may contain a secret)")
		}
		variable := "MCPTEST_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
		f.hide(variable, "the header "+name, value)
		su.Server.Headers = append(su.Server.Headers, [2]string{name, variable})
	}
	if f.bearerEnv != "" && cmdutil.LookupEnv(s.Env, f.bearerEnv) == "" {
		return fail(exitInvalid, "--bearer-token-env: the environment variable %s is not set", f.bearerEnv)
	}
	su.Server.Bearer, su.Server.CAFile, su.Server.Insecure = f.bearerEnv, f.caFile, f.insecure
	return nil
}

// local are the texts that mean this machine.
func local() []string {
	var out []string
	add := func(text string, err error) {
		if err == nil && len(text) >= 4 {
			out = append(out, text)
		}
	}
	add(os.Getwd())
	add(os.UserHomeDir())
	add(os.Hostname())
	if dir, err := os.Getwd(); err == nil {
		add(filepath.EvalSymlinks(dir))
	}
	return out
}
