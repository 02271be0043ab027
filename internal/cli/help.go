package cli

import (
	"github.com/spf13/cobra"

	"mcptest/internal/cli/cmdutil"
)

// newHelpCmd returns the command `mcptest help`: the help of a command, or else what explain
// says of the word.
func newHelpCmd(s cmdutil.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "help [command or word]",
		Short: "Help about a command, or about a word of suites and reports",
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, _ string) (names []string, _ cobra.ShellCompDirective) {
			for _, sub := range cmd.Root().Commands() {
				names = append(names, sub.Name())
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err == nil && found != nil && len(rest) == 0 {
				found.InitDefaultHelpFlag()
				return found.Help()
			}
			return explain(s, args)
		},
	}
}
