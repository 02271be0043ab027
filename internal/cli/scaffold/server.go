package scaffold

import (
	"cmp"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mcptest/internal/base/secret"
	"mcptest/internal/process/bundle"
	"mcptest/internal/run/inspect"
	"mcptest/internal/spec/draft"
)

// Server is how the user describes the server: a command or an address.
type Server struct {
	Argv                []string
	URL                 string
	Headers             []Header
	BearerEnv           string // the variable of the bearer token
	CAFile              string
	Insecure            bool
	Transport, Protocol string
	Client              string   // the known client that the suite introduces itself as; "": mcptest
	Env                 []string // variables to pass
	Name                string   // of suite and server; "": as the server reports
	Output              string   // the file that will be written
	Upstreams           []*draft.Upstream
	// Of a client's configuration: the variables that are placeholders in the texts above
	// and in Values, variables of the server with their texts, and the folder of the process.
	Refs   []string
	Values [][2]string
	Dir    string
}

// Header is an HTTP header. Its value is taken from Variable, or from one that is made up.
type Header struct{ Name, Value, Variable string }

// Secret is a value that is not written, and the variable that replaces it.
type Secret struct{ Name, Value, What string }

// Options are how the server is observed.
type Options struct {
	Conn *inspect.Conn
	Mask func(string) string // hides secrets
	Call []string            // tools to call although they are not read-only; "*": all
}

// Draft is a suite that is being made.
type Draft struct {
	Options
	Suite *draft.Suite
	// Secrets are the values that are not in the suite; Hidden are those of
	// variables in addition.
	Secrets []Secret
	Hidden  []string

	named bool
}

// Begin makes a suite with nothing but the server in it. env is the environment
// as os.Environ gives it.
func Begin(sv Server, env func(name string) string) (*Draft, error) {
	name := cmp.Or(sv.Name, "server")
	server := strings.ReplaceAll(name, "@", "-") // "@" is for variants
	d := &Draft{named: sv.Name != "", Suite: &draft.Suite{
		Name: name,
		Server: draft.Server{
			Name:      server,
			Transport: dropAuto(sv.Transport),
			Protocol:  dropAuto(sv.Protocol),
			Client:    sv.Client,
		},
		Upstreams: sv.Upstreams,
	}}
	su := d.Suite
	su.Schema = findSchema(sv.Output)
	d.placeValues(sv)
	for _, n := range append(slices.Clone(sv.Env), sv.Refs...) {
		su.Server.Env = append(su.Server.Env, n)
		if value := env(n); isPlain(n, value) {
			su.Server.Plain = append(su.Server.Plain, n)
			if _, err := strconv.ParseBool(value); err != nil {
				su.Local = append(su.Local, value)
			}
		} else {
			d.Hidden = append(d.Hidden, value)
		}
	}
	switch {
	case bundle.IsFile(sv.Argv):
		su.Server.Bundle = escapeVar(relateToOutput(sv))
	case len(sv.Argv) > 0:
		su.Server.Command = d.placeWords(sv)
		if err := d.placeFolder(sv); err != nil {
			return nil, err
		}
	default:
		d.placeAddress(sv)
	}
	su.Server.Env = append(su.Server.Env, d.listVariables()...)
	su.Local = append(su.Local, Local()...)
	return d, nil
}

func dropAuto(value string) string {
	if value == "auto" {
		return ""
	}
	return value
}

// placeWords are the words of a command as the suite has them: a secret among them
// is taken from the environment.
func (d *Draft) placeWords(sv Server) []string {
	found, argv := secret.NewRedactor(), sv.Argv
	out := make([]string, len(argv))
	for i, word := range argv {
		flag, value, joined := strings.Cut(word, "=")
		switch {
		case sv.refers(word):
			out[i] = sv.readText(word)
		case i > 0 && !strings.HasPrefix(word, "-") && isSecretFlag(argv[i-1]):
			out[i] = d.hide("", argv[i-1], word)
		case joined && secret.Name(strings.TrimLeft(flag, "-")):
			out[i] = escapeVar(flag) + "=" + d.hide("", flag, value)
		case found.String(word) != word:
			out[i] = d.hide("", fmt.Sprintf("argument %d of the command", i), word)
		default:
			out[i] = escapeVar(word)
		}
	}
	return out
}

// placeValues are the variables of a client's configuration: one that may be a secret is taken
// from the environment.
func (d *Draft) placeValues(sv Server) {
	out := &d.Suite.Server
	for _, v := range sv.Values {
		word := strings.Trim(strings.ToLower(v[1]), "abcdefghijklmnopqrstuvwxyz-_") == "" && len(v[1]) <= 16
		if sv.refers(v[1]) || isPlain(v[0], v[1]) || word && !secret.Name(v[0]) {
			out.Values = append(out.Values, [2]string{v[0], sv.readText(v[1])})
			continue
		}
		d.hide(v[0], v[0], v[1])
		out.Env = append(out.Env, v[0])
	}
}

// readText is a text as the suite has it: only the placeholders of Refs are replaced.
func (sv *Server) readText(s string) string {
	s = escapeVar(s)
	for _, name := range sv.Refs {
		s = strings.ReplaceAll(s, "$${"+name+"}", "${"+name+"}")
	}
	return s
}

func (sv *Server) refers(s string) bool { return sv.readText(s) != escapeVar(s) }

// hide keeps a value out of the suite and returns the placeholder that replaces
// it. what says whose value it is.
func (d *Draft) hide(name, what, value string) string {
	name = cmp.Or(name, fmt.Sprintf("MCPTEST_SECRET_%d", len(d.Secrets)+1))
	d.Secrets = append(d.Secrets, Secret{name, value, what})
	return "${" + name + "}"
}

func escapeVar(s string) string { return strings.ReplaceAll(s, "${", "$${") }

// listVariables are the variables of secrets that the suite contains as placeholders.
func (d *Draft) listVariables() []string {
	var out []string
	text := strings.Join(d.Suite.Server.Command, " ") + d.Suite.Server.URL
	for _, s := range d.Secrets {
		if strings.Contains(text, "${"+s.Name+"}") {
			out = append(out, s.Name)
		}
	}
	return out
}

// placeFolder keeps the server in its folder, or in the current one, if the suite is in another one.
func (d *Draft) placeFolder(sv Server) error {
	dir, err := filepath.Abs(filepath.Dir(sv.Output))
	if err != nil {
		return fmt.Errorf("find the folder of %s: %w", sv.Output, err)
	}
	here, err := filepath.Abs(cmp.Or(sv.Dir, "."))
	if err != nil {
		return fmt.Errorf("find the current folder: %w", err)
	}
	if rel, err := filepath.Rel(dir, here); err == nil && rel != "." {
		d.Suite.Server.Cwd = escapeVar(filepath.ToSlash(rel))
	}
	return nil
}

// relateToOutput returns the path of a bundle as the suite has it: relative to the suite.
func relateToOutput(sv Server) string {
	file := filepath.Join(sv.Dir, sv.Argv[0])
	if filepath.IsAbs(sv.Argv[0]) {
		return sv.Argv[0]
	}
	dir, err := filepath.Abs(filepath.Dir(sv.Output))
	if err != nil {
		return sv.Argv[0]
	}
	abs, err := filepath.Abs(file)
	if err != nil {
		return sv.Argv[0]
	}
	rel, err := filepath.Rel(dir, abs)
	if err != nil {
		return abs
	}
	return filepath.ToSlash(rel)
}

// findSchema returns the path from a suite to the JSON Schema of suites: a file in the same folder,
// or the npm package that is installed there; "" if there is none.
func findSchema(output string) string {
	for _, file := range []string{"mcptest.schema.json", "node_modules/mcptest/schema.json"} {
		if _, err := os.Stat(filepath.Join(filepath.Dir(output), file)); err == nil {
			return "./" + file
		}
	}
	return ""
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

// placeAddress describes a server that is reached by HTTP.
func (d *Draft) placeAddress(sv Server) {
	out := &d.Suite.Server
	u, err := url.Parse(sv.URL)
	password := false
	if err == nil {
		_, password = u.User.Password()
	}
	out.URL = sv.readText(sv.URL)
	if password || !sv.refers(sv.URL) && secret.NewRedactor().String(sv.URL) != sv.URL {
		out.URL = d.hide("MCPTEST_URL", "--url", sv.URL)
	}
	for _, h := range sv.Headers {
		variable := cmp.Or(h.Variable, "MCPTEST_"+strings.ToUpper(strings.ReplaceAll(h.Name, "-", "_")))
		if h.Variable == "" {
			d.hide(variable, "the header "+h.Name, h.Value)
		}
		out.Headers = append(out.Headers, [2]string{h.Name, variable})
	}
	out.Bearer, out.CAFile, out.Insecure = sv.BearerEnv, sv.CAFile, sv.Insecure
}

// identifying are the variables whose values are local, however short they are.
var identifying = []string{"USER", "LOGNAME", "USERNAME", "COMPUTERNAME", "HOSTNAME", "HOST", "SHELL", "LANG", "LC_ALL", "TZ", "TERM"}

// Local are the texts that identify this machine and its user: folders, names, and long
// values of the environment, such as PATH and npm's description of the platform.
func Local() []string {
	var out []string
	add := func(text string, err error) {
		if err == nil && len(text) >= 3 {
			out = append(out, text)
		}
	}
	add(os.Getwd())
	add(os.UserHomeDir())
	add(os.Hostname())
	if dir, err := os.Getwd(); err == nil {
		add(filepath.EvalSymlinks(dir))
	}
	for _, variable := range os.Environ() {
		if name, value, _ := strings.Cut(variable, "="); len(value) >= 12 || slices.Contains(identifying, name) {
			add(value, nil)
		}
	}
	// The longest first: none is replaced in the middle of another.
	slices.SortFunc(out, func(a, b string) int { return len(b) - len(a) })
	return out
}

// isSecretFlag reports whether a word is a flag whose value, the next word, is a secret.
func isSecretFlag(word string) bool {
	name, isFlag := strings.CutPrefix(word, "-")
	return isFlag && !strings.Contains(word, "=") && secret.Name(strings.TrimLeft(name, "-"))
}
