package record

import (
	"context"
	"io"
	"time"

	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
	"mcptest/internal/mcp/protocol"
	"mcptest/internal/proc"
)

// Backend is the interface between a run and the outside: sessions, time, and the
// end of contexts. Everything that a run does is decided by what passes here,
// so what was written down here can be played back.
type Backend interface {
	// Dial opens a session; nil without an error means that there is no such
	// launch.
	Dial(ctx context.Context, variant string) (Session, error)
	// Context returns a context that ends with its parent.
	Context(parent context.Context) context.Context
	// Pause waits, and returns false when the context ended before.
	Pause(ctx context.Context, d time.Duration) bool
	Now() time.Time
	// Introspected passes on the parameters that are never written down, and of the
	// values that the user gave. It is called when introspection is over.
	Introspected(sensitive map[string]bool, values jsonv.Value)
	// Close says that the run is over. Its error says that the run is not
	// what the tape holds, or could not be written down.
	Close() error
}

// Session is what a run needs of an [mcp.Session].
type Session interface {
	Do(ctx context.Context, c mcp.Call) *mcp.Exchange
	TakeViolations() []protocol.Violation
	Alive() bool
	Err() error
	Protocol() string
	ServerInfo() jsonv.Value
	Close(ctx context.Context) proc.Stopped
}

// Options say how a run reaches its adapter, and what a recording of it
// says about the run.
type Options struct {
	Dial     func(ctx context.Context, variant string) (*mcp.Session, error)
	Record   io.Writer  // the recording is written here; nil: the run is not recorded
	Replay   *Recording // answers instead of the adapter; nil: the adapter does
	Recorded map[string][]string

	Program, Target, Repeat, RunID string

	Secrets []string
	Values  jsonv.Value
}

// Open is the tape that the options ask for.
func Open(o Options, started time.Time) Backend {
	switch {
	case o.Replay != nil:
		return newPlayer(o.Replay, o.Program)
	case o.Record != nil:
		return newRecorder(o, started)
	}
	return direct{o.Dial}
}

// direct is the backend of a run that is neither recorded nor played back.
type direct struct {
	connect func(ctx context.Context, variant string) (*mcp.Session, error)
}

// Direct is the backend of a run that is neither recorded nor played back.
func Direct(dial func(ctx context.Context, variant string) (*mcp.Session, error)) Backend {
	return direct{dial}
}

func (d direct) Dial(ctx context.Context, variant string) (Session, error) {
	s, err := d.connect(ctx, variant)
	if s == nil || err != nil {
		return nil, err
	}
	return s, nil
}

func (direct) Context(parent context.Context) context.Context             { return parent }
func (direct) Pause(ctx context.Context, d time.Duration) bool            { return pause(ctx, d) }
func (direct) Now() time.Time                                             { return time.Now() }
func (direct) Introspected(sensitive map[string]bool, values jsonv.Value) {}
func (direct) Close() error                                               { return nil }

// pause waits, and returns false when the context ended before.
func pause(ctx context.Context, d time.Duration) bool {
	if d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
		}
	}
	return ctx.Err() == nil
}
