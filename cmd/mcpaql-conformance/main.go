// Command mcpaql-conformance tests MCP-AQL adapters by evidence bundles.
// Run it with the argument help for its commands.
package main

import (
	"os"

	"mcptest/internal/cli"
)

func main() {
	os.Exit(cli.AQLMain(os.Args[1:], cli.System()))
}
