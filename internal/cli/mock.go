package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"mcptest/internal/mcp"
	"mcptest/internal/mock"
	"mcptest/internal/source"
)

// newMockCmd makes the command that serves a manifest.
func newMockCmd(s Streams) *cobra.Command {
	var from, preset, fault, http string
	var show bool
	cmd := &cobra.Command{
		Use:   "mock (--tools-from FILE | --preset NAME)",
		Short: "Serve a written-down MCP server over stdio or HTTP",
		Long: `Serve an MCP server that a manifest describes: its tools, resources and prompts, and what they answer.
The manifest is YAML or JSON; a captured answer to tools/list will do as well.

` + mockPresets() + `

` + mockFaults() + `

A suite uses it like any other server, with nothing installed:

  servers:
    api: {command: [mcptest, mock, --tools-from, manifest.yaml]}`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if show {
				return showPreset(s.Out, preset)
			}
			f, err := mock.ParseFault(fault)
			if err != nil {
				return fail(exitInvalid, "--fault: %v", err)
			}
			m, err := mockManifest(s, from, preset)
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			if ctx == nil {
				ctx = context.Background()
			}
			server := mock.New(m, mock.Options{Fault: f, Stderr: s.Err})
			defer server.Close()
			if http != "" {
				if !listenable(http) {
					return fail(exitInvalid, "--http: want a port from 0 to 65535, or host:port, got %q", http)
				}
				return serveMockHTTP(ctx, s, server, http)
			}
			return serveMock(ctx, s, server)
		},
	}
	cmd.Flags().StringVar(&from, "tools-from", "", "manifest `FILE`, or a captured answer to tools/list")
	cmd.Flags().StringVar(&preset, "preset", "", "built-in server `NAME`: "+strings.Join(mock.Presets(), ", "))
	cmd.Flags().StringVar(&fault, "fault", "none", "misbehave: `KIND` is none, hang, wedged, slow:<ms> or recover-after:<n>")
	cmd.Flags().StringVar(&http, "http", "", "serve over HTTP on `ADDR` (a port, or host:port; loopback unless a host is named) at /mcp")
	cmd.Flags().BoolVar(&show, "show", false, "print the manifest of the preset instead of serving it")
	return cmd
}

func mockPresets() string {
	lines := []string{"Presets:"}
	for _, p := range [][2]string{
		{"echo", "a handful of small tools"},
		{"everything", "every kind of content, templates, prompts, completion, progress, logging, sampling, elicitation"},
		{"evil", "a tool for each way to break the protocol"},
	} {
		lines = append(lines, fmt.Sprintf("  %-18s %s", p[0], p[1]))
	}
	return strings.Join(lines, "\n")
}

func mockFaults() string {
	lines := []string{"Faults:"}
	for _, k := range mock.FaultKinds() {
		lines = append(lines, fmt.Sprintf("  %-18s %s", k[0], k[1]))
	}
	return strings.Join(lines, "\n")
}

func showPreset(out io.Writer, preset string) error {
	if preset == "" {
		return fail(exitInvalid, "--show goes with --preset NAME: %s", strings.Join(mock.Presets(), ", "))
	}
	f, err := mock.PresetFile(preset)
	if err != nil {
		return fail(exitInvalid, "--preset: %v", err)
	}
	_, err = out.Write(f.Data)
	return err
}

func mockManifest(s Streams, from, preset string) (*mock.Manifest, error) {
	switch {
	case (from == "") == (preset == ""):
		return nil, fail(exitInvalid, "mock: want exactly one of --tools-from FILE and --preset NAME (%s)", strings.Join(mock.Presets(), ", "))
	case preset != "":
		m, err := mock.Preset(preset)
		if err != nil {
			return nil, fail(exitInvalid, "--preset: %v", err)
		}
		return m, nil
	}
	f, ds := source.Read(from, from)
	var m *mock.Manifest
	if f != nil {
		m, ds = mock.Load(f)
	}
	errs, _ := printDiagnostics(s, "", ds)
	if m == nil {
		return nil, fail(exitInvalid, "%s in the manifest %s", plural(max(errs, 1), "mistake"), from)
	}
	return m, nil
}

// listenable reports whether an address ends with a port, or is one.
func listenable(addr string) bool {
	port := addr
	if _, p, err := net.SplitHostPort(addr); err == nil {
		port = p
	}
	n, err := strconv.Atoi(port)
	return err == nil && n >= 0 && n <= 65535
}

// serveMockHTTP serves until it is stopped, or a response ends the process.
func serveMockHTTP(ctx context.Context, s Streams, server *mock.Server, addr string) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	web := mcp.NewHTTPServer(func() mcp.Handler { return server.Session() })
	go func() {
		select {
		case <-server.Exited():
			stop()
		case <-ctx.Done():
		}
	}()
	err := web.ListenHTTP(ctx, addr, func(url string) { fmt.Fprintln(s.Err, "listening on "+url) })
	if err != nil {
		return fail(exitFailed, "mock: %v", err)
	}
	select {
	case <-server.Exited():
		return &exitError{code: server.ExitCode()}
	default:
		return nil
	}
}

// serveMock serves until the client hangs up. Ctrl-C is no failure: it is how
// a server started by hand is stopped.
func serveMock(ctx context.Context, s Streams, server *mock.Server) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	code, err := server.ServeStdio(ctx, s.In, s.Out)
	switch {
	case err != nil && !errors.Is(err, context.Canceled):
		return fail(exitFailed, "mock: %v", err)
	case code != 0:
		return &exitError{code: code}
	}
	return nil
}
