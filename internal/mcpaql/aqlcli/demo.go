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

	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/mcpaql/demo"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/verdict"
	"mcptest/internal/server/mcpserver"
)

// maxDemoOperations limits the number of operations of the demo adapter.
const maxDemoOperations = 1000

func demoOptions() []option {
	defects := evidence.Each(demo.Defects(), func(d demo.Defect) string { return d.Name })
	features := evidence.Each(demo.Features(), func(f demo.Feature) string { return f.Name })
	return []option{
		many(choice("defect", "", "name", "switch on a defect (may be repeated)", defects)),
		many(choice("with", "", "name", "switch on an optional feature (may be repeated)", features)),
		choice("mode", "", "mode", "endpoint modes (default all, or what MCP_AQL_ENDPOINT_MODE says)", demo.Modes()),
		{long: "operations", value: "number", doc: fmt.Sprintf("widen the adapter to this many operations, up to %d", maxDemoOperations), check: number(maxDemoOperations)},
		{long: "log", value: "file", doc: "append every call of an operation to this file, a JSON object a line"},
		{long: "http", value: "address", doc: "serve over Streamable HTTP at an address such as 127.0.0.1:8080, port 0 for a free one; the URL is printed on standard error"},
		{long: "state", value: "file", doc: "keep the library in this file (default in memory)"},
	}
}

// number returns a check that accepts whole numbers from 1.
func number(most int) func(string) (string, error) {
	return func(s string) (string, error) {
		n, err := strconv.Atoi(s)
		return expect(s, err == nil && n >= 1 && n <= most, fmt.Sprintf("a whole number from 1 to %d", most))
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
			return c.problem("--log: cannot write %s: %s", name, cmdutil.Reason(err))
		}
		defer f.Close()
		o.Log = f
	}
	a, err := demo.New(o)
	if err != nil {
		return c.problem("demo-adapter: %s", err)
	}
	if addr, ok := c.flags["http"]; ok {
		return c.demoHTTP(a, addr)
	}
	if err := mcpserver.ServeStdio(context.Background(), c.Client(), c.Out, a); err != nil && !errors.Is(err, io.EOF) {
		return c.problem("demo-adapter: %s", err)
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
		return c.problem("demo-adapter: --http: %s", err)
	}
	return verdict.ExitPassed
}
