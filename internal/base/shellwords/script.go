package shellwords

import (
	"path/filepath"
	"slices"
	"strings"
)

// FindProgram returns the index of the word that names the program. A launcher such as
// env runs the word after its options and assignments.
func FindProgram(words []string) int {
	launchers := []string{"env", "nice", "nohup", "npx", "setsid", "stdbuf", "sudo", "time", "timeout", "xargs"}
	at := 0
	for slices.Contains(launchers, filepath.Base(words[at])) {
		next := at + 1
		for next < len(words) && (strings.HasPrefix(words[next], "-") || strings.Contains(words[next], "=")) {
			next++
		}
		if filepath.Base(words[at]) == "timeout" {
			next++ // the duration argument
		}
		if next >= len(words) {
			break
		}
		at = next
	}
	return at
}

// ScriptAt returns the index of the script among the words of a command: after -c,
// which a shell also accepts combined with other options (-lc, -xc), or after an
// interpreter's -e (perl: -ne). It returns -1 if there is no script.
func ScriptAt(words []string) int {
	if len(words) == 0 {
		return -1
	}
	program := filepath.Base(words[FindProgram(words)])
	for i := 1; i < len(words); i++ {
		switch {
		case strings.HasPrefix(words[i], "--eval=") || strings.HasPrefix(words[i], "--print="):
			return i
		case i+1 < len(words) && (words[i] == "-c" || introducesScript(program, words[i])):
			return i + 1
		}
	}
	return -1
}

// introducesScript reports whether a script follows this option of an interpreter.
func introducesScript(program, option string) bool {
	letters, last := "", ""
	switch program {
	case "sh", "ash", "bash", "dash", "ksh", "zsh":
		letters, last = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", "c"
	case "perl", "ruby":
		letters, last = "lnapi0", "e"
	case "node", "bun":
		return slices.Contains([]string{"-e", "-p", "-pe", "--eval", "--print"}, option)
	case "php":
		return option == "-r"
	}
	flags, ok := strings.CutSuffix(option, last)
	return last != "" && ok && strings.HasPrefix(flags, "-") && strings.Trim(flags[1:], letters) == ""
}
