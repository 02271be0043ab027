package aql

import (
	"context"
	"time"

	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
	"mcptest/internal/mcp/protocol"
	"mcptest/internal/proc"
)

// tape is what stands between a run and the world: sessions, time, and the
// end of contexts. Everything that a run does is decided by what passes here,
// so what was written down here can be played back.
type tape interface {
	// dial opens a session; nil without an error means that there is no such
	// launch.
	dial(ctx context.Context, variant string) (liveSession, error)
	// bound returns a context that ends with its parent.
	bound(parent context.Context) context.Context
	// pause waits, and returns false when the context ended before.
	pause(ctx context.Context, d time.Duration) bool
	now() time.Time
	// knows tells of the parameters that are never written down, and of the
	// values that the user gave. It is called when introspection is over.
	knows(sensitive map[string]bool, values jsonv.Value)
	// close says that the run is over. Its error says that the run is not
	// what the tape holds, or could not be written down.
	close() error
}

// liveSession is what a run needs of an [mcp.Session].
type liveSession interface {
	Do(ctx context.Context, c mcp.Call) *mcp.Exchange
	TakeViolations() []protocol.Violation
	Alive() bool
	Err() error
	Protocol() string
	ServerInfo() jsonv.Value
	Close(ctx context.Context) proc.Stopped
}

// newTape is the tape that the options ask for.
func newTape(o LiveOptions, started time.Time) tape {
	switch {
	case o.Replay != nil:
		return newPlayer(o.Replay, o.Program)
	case o.Record != nil:
		return newRecorder(o, started)
	}
	return straight{o}
}

// straight is the tape of a run that is neither recorded nor played back.
type straight struct{ o LiveOptions }

func (t straight) dial(ctx context.Context, variant string) (liveSession, error) {
	s, err := t.o.Dial(ctx, variant)
	if s == nil || err != nil {
		return nil, err
	}
	return s, nil
}

func (straight) bound(parent context.Context) context.Context        { return parent }
func (straight) pause(ctx context.Context, d time.Duration) bool     { return pause(ctx, d) }
func (straight) now() time.Time                                      { return time.Now() }
func (straight) knows(sensitive map[string]bool, values jsonv.Value) {}
func (straight) close() error                                        { return nil }
