package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"mcptest/internal/aql"
	"mcptest/internal/aql/demo"
	"mcptest/internal/mcp"
)

// maxDemoOperations bounds how far the demo adapter is widened.
const maxDemoOperations = 1000

func aqlDemoCommand() aqlCommand {
	var names []string
	for _, d := range demo.Defects() {
		names = append(names, d.Name)
	}
	var features []string
	for _, f := range demo.Features() {
		features = append(features, f.Name)
	}
	return aqlCommand{
		"demo-adapter", nil, "serve an MCP-AQL adapter to try things out with",
		"Serves a small library as an MCP-AQL adapter on standard input and output, or over HTTP. It conforms at level 2;\n" +
			"defects can be switched on one by one. It is a server: give it to live --stdio, or its URL to live --url.",
		[]aqlFlag{
			many(aqlFlag{"defect", "", "one of " + strings.Join(names, ", "), "do one thing wrong (may be repeated)", oneOf(names...), false}),
			many(aqlFlag{"with", "", "one of " + strings.Join(features, ", "), "give the library more than conformance needs (may be repeated)", oneOf(features...), false}),
			{"mode", "", "one of " + strings.Join(demo.Modes(), ", "), "endpoint modes (default all, or what MCP_AQL_ENDPOINT_MODE says)", oneOf(demo.Modes()...), false},
			{"operations", "", "a number up to " + strconv.Itoa(maxDemoOperations), "widen the adapter to this many operations", number(1, maxDemoOperations), false},
			{"log", "", "a file", "append every call of an operation to this file, a JSON object a line", anyValue, false},
			{"http", "", "an address such as 127.0.0.1:8080, port 0 for a free one", "serve over Streamable HTTP instead; the URL is printed on standard error", anyValue, false},
			{"state", "", "a file", "keep the library in this file (default in memory)", anyValue, false},
		},
		(*aqlCall).demoAdapter,
	}
}

// number accepts a whole number within bounds.
func number(from, to int) func(string) (string, error) {
	return func(s string) (string, error) {
		n, err := strconv.Atoi(s)
		if err != nil || n < from || n > to {
			return "", fmt.Errorf("want a whole number from %d to %d; got %q", from, to, s)
		}
		return s, nil
	}
}

func (c *aqlCall) demoAdapter() int {
	o := demo.Options{
		Mode: c.flags["mode"], Defects: c.all("defect"), Features: c.all("with"), State: c.flags["state"],
		Launch: time.Now().Format(time.RFC3339Nano),
	}
	for _, e := range c.Env {
		if v, ok := strings.CutPrefix(e, "MCP_AQL_ENDPOINT_MODE="); ok {
			o.Mode = v
		}
	}
	if o.Mode == "semantic" {
		o.Mode = demo.ModeCrude
	}
	o.Operations, _ = strconv.Atoi(c.flags["operations"])
	if name, ok := c.flags["log"]; ok {
		f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
		if err != nil {
			c.problem("--log: cannot write %s: %s", name, reason(err))
			return aql.ExitConfig
		}
		defer f.Close()
		o.Log = f
	}
	a, err := demo.New(o)
	if err != nil {
		c.problem("demo-adapter: %s", err)
		return aql.ExitConfig
	}
	if addr, ok := c.flags["http"]; ok {
		return c.demoHTTP(a, addr)
	}
	if err := mcp.ServeStdio(context.Background(), c.In, c.Out, a); err != nil && !errors.Is(err, io.EOF) {
		c.problem("demo-adapter: %s", err)
		return aql.ExitConfig
	}
	return aql.ExitPassed
}

// demoHTTP serves one library to every session until a signal ends it.
func (c *aqlCall) demoHTTP(a *demo.Adapter, addr string) int {
	ctx, stop := watchSignals(context.Background(), c.Err, c.Exit)
	defer stop()
	srv := mcp.NewHTTPServer(a.NewSession)
	defer srv.Close()
	err := srv.ListenHTTP(ctx, addr, func(url string) { fmt.Fprintln(c.Err, url) })
	if err != nil && ctx.Err() == nil {
		c.problem("demo-adapter: --http: %s", err)
		return aql.ExitConfig
	}
	return aql.ExitPassed
}
