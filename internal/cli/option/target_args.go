package option

import (
	"strings"

	"github.com/spf13/cobra"

	"mcptest/internal/base/shellwords"
	"mcptest/internal/base/source"
	"mcptest/internal/cli/cmdutil"
)

// Split separates a command's own arguments from the server's command after --.
func (f *TargetFlags) Split(cmd *cobra.Command, args []string, limit int) (own, argv []string, err error) {
	own = args
	if n := cmd.ArgsLenAtDash(); n >= 0 {
		own, argv = args[:n], args[n:]
		if len(argv) == 0 {
			return nil, nil, Invalid("missing server command after --")
		}
	}
	if len(own) > limit {
		hint := hintAtArgument(cmd, own, limit)
		return nil, nil, Invalid("%s: unexpected argument %q (%s)", cmd.Name(), own[limit], hint)
	}
	if len(own) > 0 {
		f.meant = source.Parenthesis(source.Suggest(f.guessServer(cmd, own[0], argv)))
	}
	return own, argv, nil
}

// guessServer returns the server that the first argument probably means, as it is written; ""
// if it means none.
func (f *TargetFlags) guessServer(cmd *cobra.Command, first string, argv []string) string {
	if len(argv) == 0 && cmdutil.FindStarter(first) != "" {
		return cmdutil.QuoteServer(first)
	}
	isURL := strings.Contains(first, "://")
	if isURL && f.URL == "" && takesFlag(cmd, "url") {
		return "--url " + first
	}
	return ""
}

// Words splits the command line in the value of a flag.
func Words(flag, line string) (argv []string, err error) {
	if argv, err = shellwords.Argv(line); err != nil {
		return nil, Invalid("%s: %v", flag, err)
	}
	return argv, nil
}
