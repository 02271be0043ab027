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
		if at := strings.IndexAny(own[limit], "={"); at >= 0 && cmd.Flags().Lookup("arg") != nil {
			flag := "--arg "
			if at == 0 {
				flag = "--args-json "
			}
			hint := source.Parenthesis(source.Suggest(flag + shellwords.QuoteForShell(own[limit])))
			return nil, nil, Invalid("%s: unexpected argument %q%s", cmd.Name(), own[limit], hint)
		}
		return nil, nil, Invalid("%s: unexpected argument %q (%s)", cmd.Name(), own[limit], placeOf(cmd, own, limit))
	}
	if len(own) > 0 && strings.Contains(own[0], "://") && cmd.Flags().Lookup("url") != nil && f.URL == "" {
		f.meant = source.Parenthesis(source.Suggest("--url " + own[0]))
	}
	if len(own) > 0 && len(argv) == 0 && cmdutil.FindStarter(own[0]) != "" {
		f.meant = source.Parenthesis(source.Suggest(cmdutil.QuoteServer(own[0])))
	}
	return own, argv, nil
}

// Words splits the command line in the value of a flag.
func Words(flag, line string) (argv []string, err error) {
	if argv, err = shellwords.Argv(line); err != nil {
		return nil, Invalid("%s: %v", flag, err)
	}
	return argv, nil
}
