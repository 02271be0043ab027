package cli

import (
	"context"
	"log/slog"

	"mcptest/internal/cmdutil"
)

// host is what runs need of the process: the registry of what they start, signals,
// and an output that can't block the end.
type host struct {
	ctx     context.Context // ends at a signal
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
