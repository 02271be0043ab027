package proc

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// longestWindowsDir is the length of a working directory that Windows accepts for a new
// process; files may have longer paths.
const longestWindowsDir = 258

// shellOnly are commands that only exist in a shell, but are often written in hooks.
var shellOnly = []string{"cd", "export", "source", ".", "alias", "eval", "exec", "set", "ulimit", "umask", "unset", "trap"}

// cmdOnly are commands that only exist in cmd.exe, but are often written in hooks.
var cmdOnly = []string{
	"assoc", "call", "cd", "chdir", "cls", "copy", "date", "del", "dir", "echo", "erase", "exit", "for", "ftype",
	"if", "md", "mkdir", "mklink", "move", "pause", "popd", "prompt", "pushd", "rd", "rem", "ren", "rename", "rmdir",
	"set", "setlocal", "start", "time", "title", "type", "ver", "vol",
}

// windowsCommandHint returns the hint for a program that is only a command of a shell; "" if
// it is none.
func windowsCommandHint(program string) string {
	if slices.Contains(cmdOnly, strings.ToLower(program)) {
		return fmt.Sprintf("%s is a command of cmd.exe, not a program; write [cmd, /c, \"%s …\"]", program, program)
	}
	if slices.Contains(shellOnly, program) {
		return fmt.Sprintf("%s is a command of a POSIX shell, not a program", program)
	}
	return ""
}

// windowsFileHint returns how to start a file that Windows does not start by itself.
func windowsFileHint(path string) string {
	var words string
	switch strings.ToLower(filepath.Ext(path)) {
	case ".ps1":
		words = "powershell, -NoProfile, -ExecutionPolicy, Bypass, -File"
	case ".sh", ".bash":
		words = "bash"
	case ".js", ".mjs", ".cjs":
		words = "node"
	case ".ts", ".mts":
		words = "npx, tsx"
	case ".py":
		words = "python"
	case ".jar":
		words = "java, -jar"
	case ".rb":
		words = "ruby"
	default:
		return "Windows starts .exe, .com, .cmd and .bat files; name the program that runs this one first"
	}
	return fmt.Sprintf("name the program that runs it: [%s, %s]", words, filepath.ToSlash(path))
}
