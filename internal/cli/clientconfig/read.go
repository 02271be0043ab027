package clientconfig

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lazy"
	"mcptest/internal/base/source"
	"mcptest/internal/base/syserr"
	"mcptest/internal/spec/suite/dotenv"
)

// Server is an entry of a configuration. Its texts contain placeholders only as ${NAME},
// of an environment variable that is in Variables.
type Server struct {
	Name         string
	Command      []string // or URL
	URL          string
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
	doc, err := stripComments(src)
	if err != nil {
		return nil, fmt.Errorf("the file is not valid JSON: %w", err)
	}
	file, _ := jsonv.Parse(doc) // it was checked
	var names []string
	for _, key := range []string{"mcpServers", "servers"} {
		for one, entry := range file.Lookup(key).Members() {
			names = append(names, one)
			if one == name || name == "" && file.Lookup(key).Len() == 1 {
				return (&reader{out: &Server{Name: one, Dir: projectDir(path)}, set: set}).readServer(entry)
			}
		}
	}
	list := strings.Join(names, ", ")
	switch {
	case list == "":
		return nil, errors.New(`the file has no "mcpServers" or "servers" with servers`)
	case name == "":
		return nil, fmt.Errorf("the file has several servers, name one of them: %s", list)
	default:
		return nil, fmt.Errorf("the file has no server called %q; it has %s", name, list)
	}
}

type reader struct {
	out *Server
	set func(variable string) bool
	err error
}

func (r *reader) readServer(e jsonv.Value) (*Server, error) {
	s := r.out
	s.URL = r.readText(e.Lookup("url"))
	if program := r.readText(e.Lookup("command")); program != "" {
		s.Command = []string{program}
		for _, a := range e.Lookup("args").Elems() {
			s.Command = append(s.Command, r.readText(a))
		}
	} else if s.URL == "" {
		return nil, fmt.Errorf("%q has no command and no url", s.Name)
	}
	pairs := func(key string) (out [][2]string) {
		for k, v := range e.Lookup(key).Members() {
			out = append(out, [2]string{k, r.readText(v)})
		}
		return out
	}
	s.Env, s.Headers = pairs("env"), pairs("headers")
	if file := r.readText(e.Lookup("envFile")); file != "" {
		if err := r.readEnvFile(s.resolve(file)); err != nil {
			return nil, fmt.Errorf("envFile of %q: %s", s.Name, syserr.Text(err)) // not wrapped: it is not this file that is missing
		}
	}
	s.Dir = s.resolve(r.readText(e.Lookup("cwd")))
	return s, r.err
}

// resolve returns a path from the folder of the server, "" for that folder.
func (s *Server) resolve(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(s.Dir, path)
}

// readEnvFile adds the variables of an .env file, as those that a suite reads: their values
// stay there.
func (r *reader) readEnvFile(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	vars, diags := dotenv.Parse(&source.File{
		Name: path,
		Data: data,
	}, func(name string) bool {
		return !notName().MatchString(name)
	})
	for _, v := range vars {
		if !slices.ContainsFunc(r.out.Env, func(kv [2]string) bool { return kv[0] == v.Name }) {
			r.out.Env = append(r.out.Env, [2]string{v.Name, "${" + v.Name + "}"})
			r.out.Variables = append(r.out.Variables, v.Name)
		}
	}
	if diags.HasErrors() {
		return diags
	}
	return nil
}

// placeholder matches the placeholders of all clients, notName what the name of a variable
// cannot contain.
var (
	placeholder = lazy.Regexp(`\$\{[^}]*\}`)
	notName     = lazy.Regexp(`^$|[^A-Za-z0-9_]`)
)

// readText returns a text with the placeholders of a suite.
func (r *reader) readText(v jsonv.Value) string {
	return placeholder().ReplaceAllStringFunc(cmp.Or(v.Text(), v.Literal()), r.convertPlaceholder)
}

// convertPlaceholder returns the placeholder of a suite, or the value, for one of a client,
// and notes the variable that it needs.
func (r *reader) convertPlaceholder(p string) string {
	written, byDefault, isOptional := strings.Cut(p[2:len(p)-1], ":-")
	if written == "workspaceFolder" {
		return "."
	}
	name := nameVariable(written)
	switch {
	case notName().MatchString(name):
		r.err = fmt.Errorf("%q contains %s, which only the client can replace", r.out.Name, display.OneLine(p))
	case isOptional && !r.set(name):
		return byDefault
	case !slices.Contains(r.out.Variables, name):
		r.out.Variables = append(r.out.Variables, name)
	}
	return "${" + name + "}"
}

// nameVariable returns the variable that holds what a placeholder of a client stands for.
func nameVariable(written string) string {
	kind, id, _ := strings.Cut(written, ":")
	switch {
	case written == "userHome":
		return "HOME"
	case kind == "env":
		return id
	case kind == "input":
		return strings.ToUpper(notName().ReplaceAllString(id, "_"))
	}
	return written
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
