package server

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

	"mcptest/internal/base/display"
	"mcptest/internal/base/filekind"
	"mcptest/internal/base/source"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
	"mcptest/internal/server/manifest"
	"mcptest/internal/server/mcpserver"
	"mcptest/internal/server/mock"
)

// NewMockCmd returns the command that serves a manifest.
func NewMockCmd(s cmdutil.Streams) *cobra.Command {
	var from, preset, fault, http string
	var show bool
	cmd := &cobra.Command{
		Use:   "mock (--tools-from FILE | --preset NAME)",
		Short: "Serve a mock MCP server from a manifest over stdio or HTTP",
		Long: `Serve the MCP server described by a manifest: its tools, resources and prompts, and their responses.
The manifest is YAML or JSON; a captured tools/list result works as well.

` + listPresets() + `

` + formatHelpList("Faults:", manifest.FaultKinds()...) + `

A suite uses it like any other server, with nothing installed:

  servers:
    api: {command: [mcptest, mock, --tools-from, manifest.yaml]}`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if show {
				return showPreset(s.Out, preset)
			}
			f, err := manifest.ParseFault(fault)
			if err != nil {
				return option.Invalid("--fault: %v", err)
			}
			m, err := loadManifest(s, from, preset)
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			server := mock.New(m, mock.Options{Fault: f, Stderr: s.Err})
			defer server.Close()
			if http != "" {
				if !isListenable(http) {
					return option.Invalid("--http: expected a port from 0 to 65535, or host:port, got %q", http)
				}
				return serveMockHTTP(ctx, s, server, http, stop)
			}
			return serveMock(ctx, s, server)
		},
	}
	cmd.Flags().StringVar(&from, "tools-from", "", "manifest `FILE`, or a captured tools/list result")
	cmd.Flags().StringVar(&preset, "preset", "", "built-in server `NAME`: "+strings.Join(manifest.Presets(), ", "))
	cmd.Flags().StringVar(&fault, "fault", "none", "inject a fault: `KIND` is none, hang, wedged, slow:<ms> or recover-after:<n>")
	cmd.Flags().StringVar(&http, "http", "", "serve over HTTP on `ADDR` (a port, or host:port; loopback unless a host is given) at /mcp")
	cmd.Flags().BoolVar(&show, "show", false, "print the manifest of the preset instead of serving it")
	return cmd
}

// formatHelpList formats names with their descriptions.
func formatHelpList(title string, entries ...[2]string) string {
	for _, e := range entries {
		title += fmt.Sprintf("\n  %-18s %s", e[0], e[1])
	}
	return title
}

func listPresets() string {
	return formatHelpList("Presets:",
		[2]string{"echo", "a few small tools"},
		[2]string{"everything", "every kind of content, templates, prompts, completion, progress, logging, sampling, elicitation"},
		[2]string{"evil", "one tool for each way to violate the protocol"})
}

func showPreset(out io.Writer, preset string) error {
	if preset == "" {
		return option.Invalid("--show requires --preset NAME: %s", strings.Join(manifest.Presets(), ", "))
	}
	f, err := manifest.PresetFile(preset)
	if err != nil {
		return option.Invalid("--preset: %v", err)
	}
	_, err = out.Write(f.Data)
	return err
}

func loadManifest(s cmdutil.Streams, from, preset string) (*manifest.Manifest, error) {
	switch {
	case (from == "") == (preset == ""):
		return nil, option.Invalid("mock: expected exactly one of --tools-from FILE and --preset NAME (%s)", strings.Join(manifest.Presets(), ", "))
	case preset != "":
		m, err := manifest.Preset(preset)
		if err != nil {
			return nil, option.Invalid("--preset: %v", err)
		}
		return m, nil
	}
	if err := option.RefuseOther("--tools-from", from, filekind.Manifest, filekind.Tools); err != nil {
		return nil, err
	}
	f, ds := source.Read(from, from)
	var m *manifest.Manifest
	if f != nil {
		m, ds = manifest.Load(f)
	}
	errs, _ := option.PrintDiagnostics(s, "", ds)
	if m == nil {
		return nil, option.Invalid("%s in the manifest %s", display.Count(max(errs, 1), "error"), from)
	}
	return m, nil
}

// isListenable reports whether an address ends with a port, or is one.
func isListenable(addr string) bool {
	port := addr
	if _, p, err := net.SplitHostPort(addr); err == nil {
		port = p
	}
	n, err := strconv.Atoi(port)
	return err == nil && n >= 0 && n <= 65535
}

// serveMockHTTP serves until it is stopped, or a response ends the process.
func serveMockHTTP(ctx context.Context, s cmdutil.Streams, server *mock.Server, addr string, stop func()) error {
	web := mcpserver.NewHTTPServer(func() mcpserver.Handler { return server.Session() })
	go func() {
		select {
		case <-server.Exited():
			stop()
		case <-ctx.Done():
		}
	}()
	err := web.ListenHTTP(ctx, addr, func(url string) { fmt.Fprintln(s.Err, "listening on "+url) })
	if err != nil {
		return option.Fail(option.ExitFailed, "mock: %v", err)
	}
	select {
	case <-server.Exited():
		return &option.ExitError{Code: server.ExitCode()}
	default:
		return nil
	}
}

// serveMock serves until the client disconnects. Ctrl-C is not an error: it is how a
// user stops a server.
func serveMock(ctx context.Context, s cmdutil.Streams, server *mock.Server) error {
	code, err := server.ServeStdio(ctx, s.Client(), s.Out)
	switch {
	case err != nil && !errors.Is(err, context.Canceled):
		return option.Fail(option.ExitFailed, "mock: %v", err)
	case code != 0:
		return &option.ExitError{Code: code}
	}
	return nil
}
