package option

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mcptest/internal/base/shellwords"
	"mcptest/internal/base/source"
	"mcptest/internal/cli/cmdutil"
)

// hintAtArgument says where an argument belongs that a command does not take.
func hintAtArgument(cmd *cobra.Command, own []string, limit int) string {
	arg := own[limit]
	takesArguments := takesFlag(cmd, "arg")
	if at := strings.IndexAny(arg, "={"); at >= 0 && takesArguments {
		return suggestToolArgument(arg, at)
	}
	if isURL(arg) && takesFlag(cmd, "url") && (limit == 0 || own[0] != "read") {
		return "did you mean \"--url " + arg + "\"?"
	}
	if limit > 0 && slices.Contains([]string{"read", "get", "list", "show", "call"}, own[0]) {
		return "leave " + own[0] + " out: mcptest " + cmd.Name() + " " + shellwords.QuoteForShell(arg)
	}
	name, value, isPair := strings.Cut(arg, ":")
	switch {
	case takesArguments && isPair && name != "":
		return "did you mean \"--arg " + shellwords.QuoteForShell(name+"="+strings.TrimSpace(value)) + "\"?"
	case takesArguments && limit > 0:
		return "an argument of the tool is one word: --arg name=value; the server's command goes after --"
	case cmd.Flags().Changed("check") && (isSuiteName(arg) || filepath.Ext(arg) == ".json"):
		return "the lock file to compare with is that of --output: --output " + shellwords.QuoteForShell(arg)
	case isSuiteName(arg) && takesFlag(cmd, "config"):
		config := "--config " + shellwords.QuoteForShell(arg)
		return "a suite names the server by " + config + "; the server's command goes after --"
	case cmdutil.FindStarter(arg) != "":
		return "the server's command goes after --: " + cmdutil.QuoteServer(arg)
	}
	return "the server's command goes after --"
}

// suggestToolArgument suggests the flag of an argument of a tool, or of all of them as JSON; at
// is the index of the first "=" or "{".
func suggestToolArgument(arg string, at int) string {
	flag := "--arg "
	if at == 0 {
		flag = "--args-json "
	}
	return source.Suggest(flag + shellwords.QuoteForShell(arg))
}

// takesFlag reports whether a command has a flag.
func takesFlag(cmd *cobra.Command, name string) bool { return cmd.Flags().Lookup(name) != nil }

// isURL reports whether an argument is an address of HTTP.
func isURL(arg string) bool { return strings.HasPrefix(arg, "http") && strings.Contains(arg, "://") }

// isSuiteName reports whether an argument has the suffix of a suite.
func isSuiteName(arg string) bool {
	ext := filepath.Ext(arg)
	return ext == ".yaml" || ext == ".yml"
}
