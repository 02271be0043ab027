package tape

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"mcptest/internal/base/filekind"
	"mcptest/internal/base/term"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
	"mcptest/internal/process/proc"
	"mcptest/internal/server/mcpserver"
	"mcptest/internal/tape/cassette"
	"mcptest/internal/tape/serve"
)

// NewServeCmd returns the command `mcptest serve`.
func NewServeCmd(s cmdutil.Streams) *cobra.Command {
	var file, http, miss, pace string
	cmd := &cobra.Command{
		Use: "serve --cassette FILE", SuggestFor: []string{"replay", "play", "playback"},
		Short: "Serve a cassette to a client, over stdio or HTTP",
		Long: `Respond to a client like the recorded server. The protocol version must be a recorded one; a client that requires
another one is rejected. Requests match by method and parameters; identical requests get their recorded responses in order, and
then the last one again. Notifications are sent with their request, and the requests of the server are sent to the client.
A recorded crash is served as one: over stdio with the recorded exit status (128 + the number of a signal), over HTTP
the connection is reset. Nothing in the cassette is executed.

Exit codes: that of a recorded crash; 0 the client closed the connection, or a signal stopped the server, 1 the address cannot be used, 2 invalid command line or
cassette.`,
		Example: `  mcptest serve --cassette bug.cassette.ndjson
  mcptest serve --cassette bug.cassette.ndjson --http 8090`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case file == "":
				return option.Invalid("--cassette FILE is missing")
			case miss != "error" && miss != "nearest":
				return option.Invalid("--miss: expected error or nearest, got %q", miss)
			case pace != "fast" && pace != "recorded":
				return option.Invalid("--pace: expected recorded or fast, got %q", pace)
			}
			c, err := open(s, file)
			if err != nil {
				return err
			}
			defer c.Close()
			crashed := make(chan cassette.Exit)
			options := serve.Options{Nearest: miss == "nearest", Paced: pace == "recorded", HTTP: http != "", Report: func(message string) {
				fmt.Fprintln(s.Err, "mcptest: "+term.Escape(message))
			}}
			if http == "" {
				options.Crash = func(e cassette.Exit) { crashed <- e }
			}
			server, err := serve.New(c, options)
			if err != nil {
				return option.Invalid("%v", err)
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			if http == "" {
				return serveStdio(ctx, s, server, crashed)
			}
			err = mcpserver.NewHTTPServer(server.Handler).ListenHTTP(ctx, http, func(url string) { fmt.Fprintln(s.Err, "listening on "+url) })
			if err != nil {
				return option.Fail(option.ExitFailed, "--http: %v", err)
			}
			return nil
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&file, "cassette", "", "cassette `file` to serve")
	fl.StringVar(&http, "http", "", "serve over HTTP on `ADDR` (a port, or host:port; loopback unless a host is given) at /mcp")
	fl.StringVar(&miss, "miss", "error", "response to a request that is not recorded: error, or nearest (the most similar recording of the same method)")
	fl.StringVar(&pace, "pace", "fast", "when to respond: fast (immediately), or recorded (after the recorded time)")
	return cmd
}

// serveStdio serves one client. A signal, or a crash of the recorded server, ends it
// without waiting for a read.
func serveStdio(ctx context.Context, s cmdutil.Streams, server *serve.Server, crashed <-chan cassette.Exit) error {
	done := make(chan error, 1)
	go func() { done <- mcpserver.ServeStdio(ctx, s.Client(), s.Out, server.Handler()) }()
	select {
	case err := <-done:
		if err != nil && !errors.Is(err, context.Canceled) {
			return option.Fail(option.ExitFailed, "%v", err)
		}
	case e := <-crashed:
		return &option.ExitError{Code: exitCode(proc.Exit{Code: e.Code, Signal: e.Signal})}
	case <-ctx.Done():
	}
	return nil
}

// open reads a cassette and warns if it is incomplete. volatile are paths in addition to
// those of its header.
func open(s cmdutil.Streams, file string, volatile ...string) (*cassette.Cassette, error) {
	if err := option.RefuseOther("", file, filekind.Cassette); err != nil {
		return nil, err
	}
	c, err := cassette.Open(file)
	if err != nil {
		return nil, option.Invalid("%v", err)
	}
	if err := c.Ignore(volatile); err != nil {
		return nil, option.Invalid("%v", errors.Join(err, c.Close()))
	}
	if c.Warning != nil {
		fmt.Fprintln(s.Err, "mcptest: warning: "+term.Escape(c.Warning.Error()))
	}
	return c, nil
}

// checkNotInput returns an error if the output of a command would replace its input.
func checkNotInput(cassette, output string) error {
	in, err := os.Stat(cassette)
	if err != nil {
		return nil // reported when it is read
	}
	if out, err := os.Stat(output); err == nil && os.SameFile(in, out) {
		return option.Invalid("--output %s is the cassette itself, which is not changed: write another file", output)
	}
	return nil
}
