package cli

import (
	"context"
	"io"
	"log/slog"

	"mcptest/internal/process/proc"

	"mcptest/internal/cli/cmdutil"
)

// host provides what runs need from the process: the registry of child processes,
// signals, and an output that cannot block the end.
type host struct {
	ctx     context.Context // canceled by a signal
	world   *cmdutil.World
	streams cmdutil.Streams
	close   func()
}

// openHost returns a host. With stopAtEOF its context is also canceled at the end of
// standard input.
func openHost(ctx context.Context, s cmdutil.Streams, log *slog.Logger, stopAtEOF bool) *host {
	world := cmdutil.NewWorld(s, log)
	if stopAtEOF {
		parent, cancel := context.WithCancelCause(ctx)
		ctx = parent
		go func() {
			_, _ = io.Copy(io.Discard, s.In)
			cancel(&proc.Interrupted{Signal: "the end of standard input", Code: 143})
		}()
	}
	s.KeepFile = world.KeepFile
	ctx, stop := cmdutil.WatchSignals(ctx, s.Err, world.Kill)
	var unwatch func()
	s.Out, unwatch = watchOutput(ctx, s.Out, unreadTime, world.Kill)
	return &host{ctx, world, s, func() {
		unwatch()
		stop()
		world.Close()
	}}
}
