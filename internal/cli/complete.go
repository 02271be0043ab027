package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"mcptest/internal/cmdutil"
	"mcptest/internal/mcp"
	"mcptest/internal/mcp/protocol"
	"mcptest/internal/mcp/wire"
	"mcptest/internal/mock"
	"mcptest/internal/report"
)

// completeFlags completes the flags of all commands whose values are words of a list
// or names in a suite.
func completeFlags(s cmdutil.Streams, root *cobra.Command) {
	var reporters []string
	for _, f := range report.Formats {
		reporters = append(reporters, f.Name)
	}
	words := map[string][]string{
		"protocol":  append([]string{mcp.Auto}, protocol.Versions()...),
		"transport": {wire.HTTPAuto, wire.StreamableHTTP, wire.HTTPSSE},
		"color":     {"auto", "always", "never"},
		"preset":    mock.Presets(),
		"fault":     {"none", "hang", "wedged", "slow:", "recover-after:"},
		"log-level": {"error", "warn", "info", "debug"},
		"parallel":  {"auto"},
		"fail-on":   {"slower", "scores"},
	}
	for _, cmd := range root.Commands() {
		completeFlags(s, cmd)
		completeSuite(s, cmd)
		for name, list := range words {
			if cmd.Flags().Lookup(name) != nil {
				_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp))
			}
		}
		if cmd.Flags().Lookup("reporter") != nil {
			_ = cmd.RegisterFlagCompletionFunc("reporter", func(_ *cobra.Command, _ []string, given string) ([]string, cobra.ShellCompDirective) {
				if strings.Contains(given, "=") {
					return nil, cobra.ShellCompDirectiveDefault // the path after it
				}
				return reporters, cobra.ShellCompDirectiveNoFileComp
			})
		}
	}
}
