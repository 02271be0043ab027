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
	"mcptest/internal/suite/dotenv"
	"mcptest/internal/suite/interpolate"
)

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
	vars, diags := dotenv.Parse(file, interpolate.IsName)
	l.dec.Add(diags...)
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
