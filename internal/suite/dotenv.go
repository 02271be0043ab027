package suite

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"mcptest/internal/source"
)

// A .env file holds lines of NAME=value:
//
//	# a comment
//	export NAME = plain text, up to a blank and #   # like this one
//	SINGLE='taken literally, line breaks included'
//	DOUBLE="with \n \r \t \" \\ \$ and \` as escapes"
//
// Nothing in it is expanded, so that a password may hold a "$". It is parsed
// here because the messages must not repeat what the file holds.

// loaderVars are variables that change how programs are loaded or what an
// interpreter runs first; a file that came with a suite must not set them.
var loaderVars = []string{
	"NODE_OPTIONS", "NODE_PATH", "NODE_REPL_EXTERNAL_MODULE", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "PYTHONINSPECT",
	"PERL5OPT", "PERL5LIB", "PERL5DB", "RUBYOPT", "RUBYLIB", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS",
	"CLASSPATH", "BASH_ENV", "SHELLOPTS", "BASHOPTS", "GCONV_PATH", "DOTNET_STARTUP_HOOKS", "LUA_INIT", "PHPRC",
}

func isLoaderVar(name string) bool {
	if runtime.GOOS == "windows" {
		name = strings.ToUpper(name)
	}
	return strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "DYLD_") || slices.Contains(loaderVars, name)
}

// readDotEnv reads .env next to the suite, or the given files. A missing .env
// is fine, and so is a directory of that name (Python environments are called
// so); a missing file that was asked for is not.
func (l *loader) readDotEnv(dir string, files []string) []Var {
	var out []Var
	if len(files) == 0 {
		name := filepath.Join(dir, ".env")
		info, err := os.Stat(name)
		if errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir() {
			return nil
		}
		return l.envFile(name, "", out)
	}
	for _, name := range files {
		out = l.envFile(name, "--env-file", out)
	}
	return out
}

func (l *loader) envFile(name, flag string, out []Var) []Var {
	abs, err := filepath.Abs(name)
	if err != nil {
		abs = name
	}
	file, diags := source.Read(abs, l.shown(abs))
	if file == nil {
		for _, d := range diags {
			d.Path = flag
			if flag != "" {
				d.Hint = "looked for " + abs
			}
			l.dec.Add(d)
		}
		return out
	}
	// The file of the positions has no text: no message may show a line of it.
	p := envParser{file: &source.File{Name: file.Name, Path: file.Path}, text: string(file.Data), line: 1}
	p.text = strings.TrimPrefix(p.text, "\ufeff")
	vars := p.parse()
	l.dec.Add(p.diags...)
	for _, v := range vars {
		if isLoaderVar(v.Name) {
			l.dec.Add(source.Diagnostic{
				Pos: v.Pos, Code: "env-file", Msg: v.Name + " may not be set here: it changes how programs are loaded",
				Hint: "set it in the environment, or under the env: of the server that needs it",
			})
			continue
		}
		out = append(out, v)
	}
	return out
}

type envParser struct {
	file  *source.File
	text  string // what is left
	line  int
	diags source.Diagnostics
}

func (p *envParser) fail(line int, format string, args ...any) {
	d := source.Errorf(source.Pos{File: p.file, Line: line, Col: 1}, "", format, args...)
	d.Code = "env-file"
	p.diags.Add(d)
}

func (p *envParser) parse() []Var {
	var out []Var
	seen := map[string]source.Pos{}
	for p.text != "" {
		line := p.line
		v, ok := p.entry()
		if !ok {
			continue
		}
		v.Pos = source.Pos{File: p.file, Line: line, Col: 1}
		if first, twice := seen[v.Name]; twice {
			p.diags.Add(source.Diagnostic{
				Pos: v.Pos, Severity: source.Warning, Code: "env-file", Msg: v.Name + " is set twice; the last value counts",
				Related: []source.Related{{Pos: first, Msg: "first set here"}},
			})
		}
		seen[v.Name] = v.Pos
		out = append(out, v)
	}
	return out
}

// entry reads one line, or several when a quoted value has line breaks.
func (p *envParser) entry() (Var, bool) {
	at := p.line
	line := strings.TrimSpace(p.peekLine())
	if line == "" || line[0] == '#' {
		p.nextLine()
		return Var{}, false
	}
	name, _, ok := strings.Cut(line, "=")
	name = strings.TrimSpace(name)
	if rest, is := strings.CutPrefix(name, "export"); is && rest != "" && (rest[0] == ' ' || rest[0] == '\t') {
		name = strings.TrimSpace(rest)
	}
	if !ok || !isName(name) {
		p.nextLine()
		p.fail(at, "expected NAME=value")
		return Var{}, false
	}
	p.text = strings.TrimLeft(p.text[strings.IndexByte(p.text, '=')+1:], " \t")
	if p.text != "" && (p.text[0] == '\'' || p.text[0] == '"') {
		value, ok := p.quoted(p.text[0])
		if !ok {
			p.fail(at, "the quoted value of %s does not end", name)
			p.text = ""
			return Var{}, false
		}
		if rest := strings.TrimSpace(p.nextLine()); rest != "" && rest[0] != '#' {
			p.fail(at, "text behind the quoted value of %s", name)
			return Var{}, false
		}
		return Var{Name: name, Value: value}, !p.hasNUL(at, name, value)
	}
	value := p.nextLine()
	for i := range len(value) {
		if value[i] == '#' && (i == 0 || value[i-1] == ' ' || value[i-1] == '\t') {
			value = value[:i]
			break
		}
	}
	value = strings.TrimSpace(value)
	return Var{Name: name, Value: value}, !p.hasNUL(at, name, value)
}

func (p *envParser) hasNUL(line int, name, value string) bool {
	if strings.ContainsRune(value, 0) {
		p.fail(line, "the value of %s holds a NUL character", name)
		return true
	}
	return false
}

func (p *envParser) peekLine() string {
	line, _, _ := strings.Cut(p.text, "\n")
	return line
}

func (p *envParser) nextLine() string {
	line, rest, _ := strings.Cut(p.text, "\n")
	p.text = rest
	p.line++
	return strings.TrimSuffix(line, "\r")
}

// escapes of a double-quoted value; a backslash before anything else stays.
var envEscapes = map[byte]string{'n': "\n", 'r': "\r", 't': "\t", '"': `"`, '\\': `\`, '$': "$", '`': "`"}

func (p *envParser) quoted(quote byte) (string, bool) {
	var b strings.Builder
	for i := 1; i < len(p.text); i++ {
		c := p.text[i]
		switch {
		case c == quote:
			p.text = p.text[i+1:]
			return b.String(), true
		case quote == '"' && c == '\\' && i+1 < len(p.text) && envEscapes[p.text[i+1]] != "":
			b.WriteString(envEscapes[p.text[i+1]])
			i++
		default:
			if c == '\n' {
				p.line++
			}
			b.WriteByte(c)
		}
	}
	return "", false
}

// environ looks names up in the real environment, then in .env.
type environ struct {
	real, dotenv map[string]string
	asked        map[string]bool // by name; nil once the suite is loaded
}

func newEnviron(env []string, dotenv []Var) *environ {
	e := &environ{real: make(map[string]string, len(env)), dotenv: make(map[string]string, len(dotenv)), asked: map[string]bool{}}
	for _, kv := range env {
		if k, v, ok := strings.Cut(kv, "="); ok && k != "" {
			e.real[foldName(k)] = v
		}
	}
	for _, v := range dotenv {
		e.dotenv[foldName(v.Name)] = v.Value
	}
	return e
}

// foldName is how the system compares names of environment variables.
func foldName(name string) string {
	if runtime.GOOS == "windows" {
		return strings.ToUpper(name)
	}
	return name
}

func (e *environ) get(name string) (string, bool) {
	name = foldName(name)
	if e.asked != nil {
		e.asked[name] = true
	}
	if v, ok := e.real[name]; ok {
		return v, true
	}
	v, ok := e.dotenv[name]
	return v, ok
}

// settle lists what was asked for so far, and lists no more: tests are
// expanded by several goroutines.
func (e *environ) settle() (read []Var, missing []string) {
	asked := e.asked
	e.asked = nil
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		if value, ok := e.get(name); ok {
			read = append(read, Var{Name: name, Value: value})
		} else {
			missing = append(missing, name)
		}
	}
	return read, missing
}

func (e *environ) names() []string {
	out := make([]string, 0, len(e.real)+len(e.dotenv))
	for k := range e.real {
		out = append(out, k)
	}
	for k := range e.dotenv {
		out = append(out, k)
	}
	return out
}

// checkEnvName reports a key of env: that no program could be given.
func checkEnvName(d *source.Decoder, pos source.Pos, path, name, value string) {
	switch {
	case name == "":
		report(d, pos, path, "the name of an environment variable is empty", "")
	case strings.ContainsAny(name, "=\x00"):
		report(d, pos, path, fmt.Sprintf("%q can't be the name of an environment variable", name), "")
	case strings.ContainsRune(value, 0):
		report(d, pos, path, fmt.Sprintf("the value of %s holds a NUL character", name), "")
	}
}
