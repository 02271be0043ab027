package cli_test

import (
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"mcptest/internal/base/testkit"
)

// everythingMain starts server-everything of npm over HTTP, or the TypeScript SDK's example
// of a server with OAuth, runs the given command with the address in URL, and exits with
// the command's exit code.
func everythingMain() {
	kind := flag.String("kind", "streamableHttp", "streamableHttp, sse or oauth")
	flag.Parse()
	os.Exit(everything(*kind, flag.Args()))
}

// listens waits until the address accepts connections.
func listens(addr string, wait time.Duration) bool {
	return testkit.Poll(wait, func() bool {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
}

func everything(kind string, argv []string) int {
	port := strconv.Itoa(testkit.FindFreePort())
	addr := net.JoinHostPort("127.0.0.1", port)
	modules := filepath.Join(os.Getenv("ROOT"), "testdata", "servers", "node_modules", "@modelcontextprotocol")
	server := exec.Command("node", filepath.Join(modules, "server-everything", "dist", "index.js"), kind)
	server.Env = append(os.Environ(), "PORT="+port)
	url := "http://" + addr + map[string]string{"streamableHttp": "/mcp", "sse": "/sse"}[kind]
	if kind == "oauth" {
		issuer := strconv.Itoa(testkit.FindFreePort())
		server = exec.Command("node", filepath.Join(modules, "sdk", "dist", "esm", "examples", "server", "simpleStreamableHttp.js"), "--oauth", "--oauth-strict")
		server.Env = append(os.Environ(), "MCP_PORT="+port, "MCP_AUTH_PORT="+issuer)
		url = "http://localhost:" + port + "/mcp"
	}
	if err := server.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 125
	}
	defer func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	}()
	if !listens(addr, 2*time.Minute) {
		fmt.Fprintf(os.Stderr, "server-everything does not listen on %s\n", addr)
		return 125
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "URL="+url, "BROWSER=browser")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return max(1, cmd.ProcessState.ExitCode())
	}
	return 0
}
