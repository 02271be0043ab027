package cli

import (
	"github.com/spf13/cobra"

	"mcptest/internal/cmdutil"
	"mcptest/schemas"
)

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
