package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/cli/cmdutil"
	"mcptest/schemas"
)

// formatVersion returns the output of `version` and --version.
func formatVersion() string {
	return fmt.Sprintf("mcptest %s %s/%s %s", cmdutil.Version(), runtime.GOOS, runtime.GOARCH, runtime.Version())
}

func newVersionCmd(s cmdutil.Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long: `Print the version, the platform and the Go version used for the build. The version is the tag of the module, or
devel and the revision if the program was not built from a tag. --version does the same.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				about := jsonv.ObjectOf("version", cmdutil.Version(), "os", runtime.GOOS, "arch", runtime.GOARCH, "go", runtime.Version())
				_, err := fmt.Fprintln(s.Out, about)
				return err
			}
			_, err := fmt.Fprintln(s.Out, formatVersion())
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print version, os, arch and go as JSON")
	return cmd
}

func newCompletionCmd(s cmdutil.Streams) *cobra.Command {
	return &cobra.Command{
		Use:       "completion bash|zsh|fish|powershell",
		Short:     "Print a completion script for a shell",
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(s.Out, true)
			case "zsh":
				return root.GenZshCompletion(s.Out)
			case "fish":
				return root.GenFishCompletion(s.Out, true)
			default:
				return root.GenPowerShellCompletionWithDesc(s.Out)
			}
		},
	}
}

func newSchemaCmd(s cmdutil.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of suite files",
		Long: `Print the JSON Schema (2020-12) of suite files. To use it in an editor, start a
suite with a line like

  # yaml-language-server: $schema=./suite.schema.json`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := s.Out.Write(schemas.V1)
			return err
		},
	}
}
