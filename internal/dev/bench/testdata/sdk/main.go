// Command sdk is a small tool server made with the official Go SDK.
//
//	sdk [FILE]    with FILE, a byte is appended to it for each call of echo
package main

import (
	"context"
	"io"
	"log"
	"os"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcptest/internal/process/pipe"
)

type echoIn struct {
	Text string `json:"text" jsonschema:"what comes back"`
}

type addIn struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
}

type addOut struct {
	Sum float64 `json:"sum"`
}

func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

func main() {
	called := func() {}
	if len(os.Args) > 1 {
		f, err := os.OpenFile(os.Args[1], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			log.Fatal(err)
		}
		called = func() {
			if _, err := f.WriteString("."); err != nil {
				log.Fatal(err)
			}
		}
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "sdk", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "echo", Description: "returns its text"},
		func(_ context.Context, _ *mcp.CallToolRequest, in echoIn) (*mcp.CallToolResult, any, error) {
			called()
			return text(in.Text), nil, nil
		})
	mcp.AddTool(s, &mcp.Tool{Name: "upper", Description: "returns its text in capitals"},
		func(_ context.Context, _ *mcp.CallToolRequest, in echoIn) (*mcp.CallToolResult, any, error) {
			return text(strings.ToUpper(in.Text)), nil, nil
		})
	mcp.AddTool(s, &mcp.Tool{Name: "add", Description: "adds two numbers"},
		func(_ context.Context, _ *mcp.CallToolRequest, in addIn) (*mcp.CallToolResult, addOut, error) {
			return nil, addOut{in.A + in.B}, nil
		})
	// A blocking read could cost a response: see docs/rough-edges.md.
	stdio := &mcp.IOTransport{Reader: io.NopCloser(pipe.Polled(os.Stdin)), Writer: os.Stdout}
	if err := s.Run(context.Background(), stdio); err != nil {
		log.Fatal(err)
	}
}
