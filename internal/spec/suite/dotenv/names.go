package dotenv

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"mcptest/internal/base/source"
)

// loaderVars are variables that change how programs are loaded or which code an
// interpreter runs first. A .env file that comes with a suite must not set them.
var loaderVars = []string{
	"NODE_OPTIONS", "NODE_PATH", "NODE_REPL_EXTERNAL_MODULE", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "PYTHONINSPECT",
	"PERL5OPT", "PERL5LIB", "PERL5DB", "RUBYOPT", "RUBYLIB", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS",
	"CLASSPATH", "BASH_ENV", "SHELLOPTS", "BASHOPTS", "GCONV_PATH", "DOTNET_STARTUP_HOOKS", "LUA_INIT", "PHPRC",
}

// ChangesLoading reports whether a variable changes how programs are loaded.
func ChangesLoading(name string) bool {
	if runtime.GOOS == "windows" {
		name = strings.ToUpper(name)
	}
	return strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "DYLD_") || slices.Contains(loaderVars, name)
}

// CheckName reports a key of env: that cannot be an environment variable.
func CheckName(d *source.Decoder, pos source.Pos, path, name, value string) {
	report := func(msg string) { d.Add(source.Errorf(pos, path, "%s", msg)) }
	switch {
	case name == "":
		report("the name of an environment variable is empty")
	case strings.ContainsAny(name, "=\x00"):
		report(fmt.Sprintf("%q can't be the name of an environment variable", name))
	case strings.ContainsRune(value, 0):
		report(fmt.Sprintf("the value of %s holds a NUL character", name))
	}
}
