package cli_test

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// toolsetsMain is a server whose tools depend on its configuration. `toolsets
// stdio [--read-only] [--toolsets=LIST] [--fail]` serves over stdio, with LIST in
// TOOLSETS as well; `toolsets http COMMAND…` serves by header and query, and runs
// the command with the address in URL.
func toolsetsMain() {
	if os.Args[1] == "http" {
		os.Exit(toolsetsHTTP(os.Args[2:]))
	}
	sets := os.Getenv("TOOLSETS")
	for _, arg := range os.Args[2:] {
		if list, ok := strings.CutPrefix(arg, "--toolsets="); ok {
			sets = list
		}
	}
	if slices.Contains(os.Args, "--fail") {
		fmt.Fprintln(os.Stderr, "toolsets: no such flag")
		os.Exit(2)
	}
	s := toolsetsServer(sets, slices.Contains(os.Args, "--read-only"))
	if err := s.Run(context.Background(), &sdk.StdioTransport{}); err != nil {
		os.Exit(1)
	}
}

func toolsetsHTTP(argv []string) int {
	srv := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(r *http.Request) *sdk.Server {
		sets := cmp.Or(r.Header.Get("X-MCP-Toolsets"), r.URL.Query().Get("toolsets"))
		return toolsetsServer(sets, r.Header.Get("X-MCP-Readonly") == "true" || r.URL.Query().Get("readonly") == "true")
	}, &sdk.StreamableHTTPOptions{Stateless: true}))
	defer srv.Close()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "URL="+srv.URL+"/mcp")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return max(1, cmd.ProcessState.ExitCode())
	}
	return 0
}

// toolsetsServer offers a reading and a writing tool of each of the sets in a
// list with commas.
func toolsetsServer(list string, readOnly bool) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "toolsets", Version: "1"}, nil)
	for set := range strings.SplitSeq(cmp.Or(list, "issues,repos"), ",") {
		for _, verb := range []string{"get_", "create_"} {
			if verb == "create_" && readOnly {
				continue
			}
			name := verb + set
			tool := &sdk.Tool{Name: name, Annotations: &sdk.ToolAnnotations{ReadOnlyHint: verb == "get_"}}
			sdk.AddTool(s, tool, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
				return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: name}}}, nil, nil
			})
		}
	}
	return s
}
