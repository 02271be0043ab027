// Command mcptest tests MCP servers.
package main

import (
	"os"

	"mcptest/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], cli.System()))
}
