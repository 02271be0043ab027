package cli_test

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// sdkServerMain serves tools of the official SDK over HTTP on loopback, runs the given
// command with the address in URL, and exits with its exit code.
func sdkServerMain() {
	kind := flag.String("kind", "stateful", "stateful, stateless, json or sse")
	tls := flag.Bool("tls", false, "HTTPS with an untrusted certificate")
	flag.Parse()
	srv := httptest.NewUnstartedServer(sdkHandler(*kind))
	if *tls {
		srv.StartTLS()
	} else {
		srv.Start()
	}
	defer srv.Close()
	cmd := exec.Command(flag.Arg(0), flag.Args()[1:]...)
	cmd.Env = append(os.Environ(), "URL="+srv.URL+"/mcp")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		code := cmd.ProcessState.ExitCode()
		if code < 0 {
			fmt.Fprintln(os.Stderr, err)
			code = 125
		}
		os.Exit(code)
	}
}

type sdkEcho struct {
	Text string `json:"text"`
}

func sdkHandler(kind string) http.Handler {
	s := sdk.NewServer(&sdk.Implementation{Name: "sdk", Version: "1"}, nil)
	sdk.AddTool(s, &sdk.Tool{Name: "echo"}, func(_ context.Context, _ *sdk.CallToolRequest, a sdkEcho) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: a.Text}}}, nil, nil
	})
	get := func(*http.Request) *sdk.Server { return s }
	if kind == "sse" {
		return sdk.NewSSEHandler(get, nil)
	}
	return sdk.NewStreamableHTTPHandler(get, &sdk.StreamableHTTPOptions{Stateless: kind == "stateless", JSONResponse: kind == "json"})
}
