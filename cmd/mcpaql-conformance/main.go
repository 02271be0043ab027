// Command mcpaql-conformance tests MCP-AQL adapters by evidence bundles.
// Run it with the argument help for its commands.
package main

import (
	"os"

	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/mcpaql/aqlcli"
)

func main() {
	os.Exit(aqlcli.Main(os.Args[1:], cmdutil.System()))
}
