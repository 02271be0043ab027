// Command mcpaql-conformance tests MCP-AQL adapters by evidence bundles.
// Run it with the argument help for its commands.
package main

import (
	"os"

	"mcptest/internal/aqlcli"
	"mcptest/internal/cmdutil"
)

func main() {
	os.Exit(aqlcli.Main(os.Args[1:], cmdutil.System()))
}
