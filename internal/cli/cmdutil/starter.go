package cmdutil

import (
	"path/filepath"

	"mcptest/internal/base/shellwords"
)

// starters are the programs that start a server, by the suffix of its file.
var starters = map[string]string{
	".py":  "python3",
	".js":  "node",
	".mjs": "node",
	".cjs": "node",
	".ts":  "npx tsx",
	".go":  "go run",
	".rb":  "ruby",
	".sh":  "sh",
}

// FindStarter returns the program that starts a server, "node" for server.js, or "" if the
// suffix of its file doesn't tell.
func FindStarter(file string) string { return starters[filepath.Ext(file)] }

// QuoteServer returns the command line of the server in a file, as it is written after a
// command of mcptest: -- node server.js.
func QuoteServer(file string) string {
	return "-- " + FindStarter(file) + " " + shellwords.QuoteForShell(file)
}
