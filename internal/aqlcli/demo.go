package aqlcli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mcptest/internal/aql/demo"
	"mcptest/internal/aql/verdict"
	"mcptest/internal/cmdutil"
	"mcptest/internal/mcpserver"
)

// maxDemoOperations limits the number of operations of the demo adapter.
const maxDemoOperations = 1000

func newDemoCmd(c *call) *cobra.Command {
	var defects, features []string
	for _, d := range demo.Defects() {
		defects = append(defects, d.Name)
	}
	for _, f := range demo.Features() {
		features = append(features, f.Name)
	}
	return c.command(&cobra.Command{
		Use:   "demo-adapter",
		Short: "serve an MCP-AQL adapter to experiment with",
		Long: `Serves a small library as an MCP-AQL adapter on standard input and output, or over HTTP. It conforms at level 2;
defects can be switched on one by one. It is a server: give it to live --stdio, or its URL to live --url.`,
	}, (*call).demoAdapter,
		many(choice("defect", "", "name", "switch on a defect (may be repeated)", defects)),
		many(choice("with", "", "name", "switch on an optional feature (may be repeated)", features)),
		choice("mode", "", "mode", "endpoint modes (default all, or what MCP_AQL_ENDPOINT_MODE says)", demo.Modes()),
		option{
			long: "operations", value: "number", doc: fmt.Sprintf("widen the adapter to this many operations, up to %d", maxDemoOperations),
			check: number(1, maxDemoOperations),
		},
		option{long: "log", value: "file", doc: "append every call of an operation to this file, a JSON object a line"},
		option{long: "http", value: "address", doc: "serve over Streamable HTTP at an address such as 127.0.0.1:8080, port 0 for a free one; the URL is printed on standard error"},
		option{long: "state", value: "file", doc: "keep the library in this file (default in memory)"},
	)
}

// number returns a check that accepts whole numbers within bounds.
func number(from, to int) func(string) (string, error) {
	return func(s string) (string, error) {
		n, err := strconv.Atoi(s)
		if err != nil || n < from || n > to {
			return "", fmt.Errorf("expected a whole number from %d to %d; got %q", from, to, s)
		}
		return s, nil
	}
}

func (c *call) demoAdapter() int {
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
			c.problem("--log: cannot write %s: %s", name, cmdutil.Reason(err))
			return verdict.ExitConfig
		}
		defer f.Close()
		o.Log = f
	}
	a, err := demo.New(o)
	if err != nil {
		c.problem("demo-adapter: %s", err)
		return verdict.ExitConfig
	}
	if addr, ok := c.flags["http"]; ok {
		return c.demoHTTP(a, addr)
	}
	if err := mcpserver.ServeStdio(context.Background(), c.In, c.Out, a); err != nil && !errors.Is(err, io.EOF) {
		c.problem("demo-adapter: %s", err)
		return verdict.ExitConfig
	}
	return verdict.ExitPassed
}

// demoHTTP serves one library to every session until a signal ends it.
func (c *call) demoHTTP(a *demo.Adapter, addr string) int {
	ctx, stop := cmdutil.WatchSignals(context.Background(), c.Err, c.Exit)
	defer stop()
	srv := mcpserver.NewHTTPServer(a.NewSession)
	defer srv.Close()
	err := srv.ListenHTTP(ctx, addr, func(url string) { fmt.Fprintln(c.Err, url) })
	if err != nil && ctx.Err() == nil {
		c.problem("demo-adapter: --http: %s", err)
		return verdict.ExitConfig
	}
	return verdict.ExitPassed
}
