// Command mcptest tests MCP servers.
package main

import (
	"os"

	"mcptest/internal/cli"
	"mcptest/internal/cli/cmdutil"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], cmdutil.System()))
}
