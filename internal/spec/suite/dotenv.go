package suite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"mcptest/internal/base/source"
	"mcptest/internal/spec/suite/dotenv"
	"mcptest/internal/spec/suite/interpolate"
)

// loaderVars are variables that change how programs are loaded or which code an
// interpreter runs first. A .env file that comes with a suite must not set them.
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

// readDotEnv reads .env next to the suite, or the given files. A missing .env is
// ignored, and so is a directory of that name (often a Python environment); a
// missing file in files is an error.
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
	file, diags := source.Read(abs, l.displayPath(abs))
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
				Pos: v.Pos, Code: "env-file", Msg: v.Name + " cannot be set here: it changes how programs are loaded",
				Hint: "set it in the environment, or under the env: of the server that needs it",
			})
			continue
		}
		out = append(out, v)
	}
	return out
}

// checkEnvName reports a key of env: that cannot be an environment variable.
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
