package option

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mcptest/internal/base/shellwords"
	"mcptest/internal/cli/cmdutil"
)

// placeOf says where an argument belongs that a command does not take.
func placeOf(cmd *cobra.Command, own []string, limit int) string {
	arg := own[limit]
	name, value, pair := strings.Cut(arg, ":")
	isURL := strings.HasPrefix(arg, "http") && strings.Contains(arg, "://")
	takesURL := cmd.Flags().Lookup("url") != nil
	switch {
	case isURL && takesURL && (limit == 0 || own[0] != "read"):
		return "did you mean \"--url " + arg + "\"?"
	case limit > 0 && slices.Contains([]string{"read", "get", "list", "show", "call"}, own[0]):
		return "leave " + own[0] + " out: mcptest " + cmd.Name() + " " + shellwords.QuoteForShell(arg)
	case cmd.Flags().Lookup("arg") != nil && pair && name != "":
		return "did you mean \"--arg " + shellwords.QuoteForShell(name+"="+strings.TrimSpace(value)) + "\"?"
	case cmd.Flags().Lookup("arg") != nil && limit > 0:
		return "an argument of the tool is one word: --arg name=value; the server's command goes after --"
	case cmd.Flags().Changed("check") && (isSuiteName(arg) || filepath.Ext(arg) == ".json"):
		return "the lock file to compare with is that of --output: --output " + shellwords.QuoteForShell(arg)
	case isSuiteName(arg) && cmd.Flags().Lookup("config") != nil:
		config := "--config " + shellwords.QuoteForShell(arg)
		return "a suite names the server by " + config + "; the server's command goes after --"
	case cmdutil.FindStarter(arg) != "":
		return "the server's command goes after --: " + cmdutil.QuoteServer(arg)
	}
	return "the server's command goes after --"
}

// isSuiteName reports whether an argument has the suffix of a suite.
func isSuiteName(arg string) bool {
	ext := filepath.Ext(arg)
	return ext == ".yaml" || ext == ".yml"
}
