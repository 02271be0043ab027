package option

import (
	"github.com/spf13/cobra"

	"mcptest/internal/base/source"
	"mcptest/internal/client/identity"
	"mcptest/internal/spec/plan"
)

// AddClient defines the flag of the commands that can introduce themselves as a known
// client.
func AddClient(cmd *cobra.Command, name *string) {
	cmd.Flags().StringVar(name, "client", "",
		"declare the name, version and capabilities of this known `client`, in place of client: in the suite")
}

// KnownClient returns the client that --client names, nil if it names none.
func KnownClient(name string) (*plan.Client, error) {
	if name == "" {
		return nil, nil
	}
	c, ok := plan.FindClient(name)
	if !ok {
		known := source.Known(name, identity.Names())
		return nil, Invalid("--client: %q is not a client that mcptest knows (%s)", name, known)
	}
	return &c, nil
}
