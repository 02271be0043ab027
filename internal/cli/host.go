package cli

import (
	"context"
	"log/slog"

	"mcptest/internal/cmdutil"
)

// host provides what runs need from the process: the registry of child processes,
// signals, and an output that cannot block the end.
type host struct {
	ctx     context.Context // canceled by a signal
	world   *cmdutil.World
	streams cmdutil.Streams
	close   func()
}

func openHost(ctx context.Context, s cmdutil.Streams, log *slog.Logger) *host {
	world := cmdutil.NewWorld(s, log)
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
