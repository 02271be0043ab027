package inspect_test

import (
	"context"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/run/connect"
	"mcptest/internal/run/inspect"
	"mcptest/internal/server/manifest"
	"mcptest/internal/server/mcpserver"
	"mcptest/internal/server/mock"
	"mcptest/internal/spec/plan"
)

// open connects to a preset of the mock server over HTTP.
func open(t *testing.T, preset string, change func(*inspect.Options)) *inspect.Conn {
	t.Helper()
	m, err := manifest.Preset(preset)
	if err != nil {
		t.Fatal(err)
	}
	server := mock.New(m, mock.Options{})
	t.Cleanup(server.Close)
	web := mcpserver.NewHTTPServer(func() mcpserver.Handler { return server.Session() })
	t.Cleanup(web.Close)
	listener := httptest.NewServer(web)
	t.Cleanup(listener.Close)
	o := inspect.Options{
		Server: &plan.Server{
			Name: "mock", URL: listener.URL, Transport: "auto", Protocol: mcp.Auto, Timeout: time.Minute, ConnectTimeout: time.Minute,
			ValidateOutput: true, Tolerate: map[string]bool{},
		},
		Client: mcp.Implementation{Name: "test"}, Eras: connect.NewEras(nil),
	}
	if change != nil {
		change(&o)
	}
	c := inspect.New(o)
	if err := c.Open(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestListAndCall(t *testing.T) {
	c := open(t, "echo", nil)
	ctx := context.Background()
	tools, err := c.List(ctx, "tools/list", "tools")
	if err != nil || !slices.Contains(inspect.Names(tools, "name"), "echo") {
		t.Fatalf("got %v, %v", inspect.Names(tools, "name"), err)
	}
	args := jsonv.Object(jsonv.Member{Key: "mesage", Value: jsonv.String("hi")})
	x := c.Do(ctx, "tools/call", jsonv.Object().With("name", jsonv.String("echo")).With("arguments", args))
	warnings := c.CheckCall(ctx, "echo", args, x)
	if len(warnings) != 1 || !strings.Contains(warnings[0], "message") {
		t.Errorf("an unknown argument: %q", warnings)
	}
	c.ReportRemaining()
	if c.Violated() || len(c.Seen()) > 0 {
		t.Errorf("got %v", c.Seen())
	}
}

// The error of a call names the tool that was meant, but only if there is no
// tool of that name.
func TestUnlisted(t *testing.T) {
	c := open(t, "echo", nil)
	ctx := context.Background()
	refused := &protocol.RPCError{Code: protocol.CodeInvalidParams, Message: "no"}
	if err := c.Unlisted(ctx, refused, "tools", "eco"); !strings.Contains(err.Error(), `no tool "eco"`) || !strings.Contains(err.Error(), "echo") {
		t.Errorf("got %v", err)
	}
	if err := c.Unlisted(ctx, refused, "tools", "echo"); err.Error() != refused.Error() {
		t.Errorf("got %v", err)
	}
	if err := c.Unlisted(ctx, refused, "completions", "eco"); err.Error() != refused.Error() {
		t.Errorf("a capability that the server lacks: %v", err)
	}
}

// Each violation is reported once; one that is tolerated does not count.
func TestViolations(t *testing.T) {
	for _, tolerated := range []bool{false, true} {
		var kinds []string
		c := open(t, "evil", func(o *inspect.Options) {
			o.Server.Tolerate["output-schema"] = tolerated
			o.Violations = func(list []protocol.Violation) {
				for _, v := range list {
					kinds = append(kinds, v.Kind)
				}
			}
		})
		ctx := context.Background()
		tools, err := c.List(ctx, "tools/list", "tools")
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(tools, func(v jsonv.Value) bool { return !v.Lookup("outputSchema").IsAbsent() })
		if at < 0 {
			t.Skip("no tool with an outputSchema")
		}
		tool := tools[at].Lookup("name").Text()
		x := c.Do(ctx, "tools/call", jsonv.Object().With("name", jsonv.String(tool)).With("arguments", jsonv.Object()))
		c.CheckCall(ctx, tool, jsonv.Object(), x)
		if !slices.Equal(kinds, []string{"output-schema"}) || c.Violated() == tolerated {
			t.Errorf("tolerated %v: %v, violated %v", tolerated, kinds, c.Violated())
		}
	}
}
