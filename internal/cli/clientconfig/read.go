package clientconfig

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
)

// Server is an entry of a configuration. Its texts contain placeholders only as ${NAME},
// of an environment variable that is in Variables.
type Server struct {
	Name         string
	Command      []string // or URL
	URL          string
	SSE          bool
	Env, Headers [][2]string
	Dir          string // the folder of the process; "": the client's
	Variables    []string
}

// Read returns an entry of a configuration file; without a name there must be only one.
// set reports whether an environment variable is set.
func Read(path, name string, set func(variable string) bool) (*Server, error) {
	src, err := read(path)
	if err != nil {
		return nil, err
	}
	doc, err := plainJSON(src)
	var file jsonv.Value
	if err == nil {
		file, err = jsonv.Parse(doc)
	}
	if err != nil {
		return nil, fmt.Errorf("the file is not valid JSON: %w", err)
	}
	servers := file.Lookup("mcpServers")
	if servers.IsAbsent() {
		servers = file.Lookup("servers")
	}
	r := reader{out: &Server{Name: name, Dir: projectDir(path)}, set: set}
	for one := range servers.Members() {
		r.names = append(r.names, one)
	}
	if name == "" && len(r.names) == 1 {
		r.out.Name = r.names[0]
	}
	switch {
	case len(r.names) == 0:
		return nil, errors.New(`the file has no "mcpServers" or "servers" with servers`)
	case r.out.Name == "":
		return nil, fmt.Errorf("the file has several servers, name one of them: %s", strings.Join(r.names, ", "))
	case !slices.Contains(r.names, name) && name != "":
		return nil, fmt.Errorf("the file has no server called %q; it has %s", name, strings.Join(r.names, ", "))
	}
	return r.server(servers.Lookup(r.out.Name))
}

type reader struct {
	out   *Server
	names []string
	set   func(variable string) bool
	err   error
}

func (r *reader) server(e jsonv.Value) (*Server, error) {
	s := r.out
	s.URL, s.SSE = r.text(e.Lookup("url")), e.Lookup("type").Text() == "sse"
	if program := r.text(e.Lookup("command")); program != "" {
		s.Command = []string{program}
		for _, a := range e.Lookup("args").Elems() {
			s.Command = append(s.Command, r.text(a))
		}
	}
	if i := slices.Index(s.Command, "--"); i > 1 && s.Command[1] == "record" && strings.HasPrefix(filepath.Base(s.Command[0]), "mcptest") {
		s.Command = s.Command[i+1:] // the server behind the recording proxy
	}
	for k, v := range e.Lookup("env").Members() {
		s.Env = append(s.Env, [2]string{k, r.text(v)})
	}
	for k, v := range e.Lookup("headers").Members() {
		s.Headers = append(s.Headers, [2]string{k, r.text(v)})
	}
	if dir := r.text(e.Lookup("cwd")); dir != "" && filepath.IsAbs(dir) {
		s.Dir = dir
	} else if dir != "" {
		s.Dir = filepath.Join(cmp.Or(s.Dir, "."), dir)
	}
	if r.err == nil && len(s.Command) == 0 && s.URL == "" {
		r.err = fmt.Errorf("%q has no command and no url", s.Name)
	}
	return s, r.err
}

// placeholder matches the placeholders of all clients, notName what the name of a variable
// cannot contain.
var (
	placeholder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{[^}]*\}`) })
	notName     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^$|[^A-Za-z0-9_]`) })
)

// text returns a text with the placeholders of a suite.
func (r *reader) text(v jsonv.Value) string {
	if v.Kind() == jsonv.KindNumber || v.Kind() == jsonv.KindBool {
		return v.String()
	}
	return placeholder().ReplaceAllStringFunc(v.Text(), func(p string) string {
		name, byDefault, optional := strings.Cut(p[2:len(p)-1], ":-")
		kind, id, _ := strings.Cut(name, ":")
		switch {
		case name == "workspaceFolder":
			return "."
		case name == "userHome":
			name = "HOME"
		case kind == "env":
			name = id
		case kind == "input":
			name = strings.ToUpper(notName().ReplaceAllString(id, "_"))
		}
		switch {
		case notName().MatchString(name):
			r.err = fmt.Errorf("%q contains %s, which only the client can replace", r.out.Name, display.OneLine(p))
		case optional && !r.set(name):
			return byDefault
		case !slices.Contains(r.out.Variables, name):
			r.out.Variables = append(r.out.Variables, name)
		}
		return "${" + name + "}"
	})
}

// projectDir is the folder in which a client starts the servers of a project's
// configuration; "" for a configuration of the user.
func projectDir(path string) string {
	dir := filepath.Dir(path)
	switch {
	case filepath.Base(path) == ".mcp.json":
		return dir
	case slices.Contains([]string{".vscode", ".cursor"}, filepath.Base(dir)):
		return filepath.Dir(dir)
	}
	return ""
}
