package openings

import (
	"context"
	"sync"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/handshake"
	"mcptest/internal/offer/opening"
	"mcptest/internal/process/proc"
	"mcptest/internal/run/connect"
	"mcptest/internal/spec/plan"
)

// muteLimit limits each step with a server that has answered nobody.
const muteLimit = 5 * time.Second

// maxStep limits each step of a script, whatever the limit of the user.
const maxStep = 30 * time.Second

// Options are a server and the scripts to replay with it.
type Options struct {
	Server  *plan.Server
	Connect connect.Options
	Scripts []opening.Script // those of the server's transport are replayed
	// Startup is how long the server took to start and to answer, 0 if unknown.
	Startup time.Duration
	// Control opens a session of mcptest's own and ends it; nil if that failed before.
	Control func(ctx context.Context) error
	Refuses func(reader handshake.Reader, page jsonv.Value) string
	// Progress is called before each script with what is done; may be nil.
	Progress func(done, all int, client string)
}

// runner replays the scripts of one server.
type runner struct {
	o      Options
	serial bool
	mute   bool // not even mcptest got in, and nothing came for the first frame of a script
	notes  []string
	done   int
	all    int

	mu         sync.Mutex
	ignoresEOF bool // a process did not end when its input was closed
}

// limit is how long a frame may wait. The first one also waits for the process to start.
func (r *runner) limit(f opening.Frame, first bool) time.Duration {
	limit := f.Limit
	if limit == 0 {
		limit = min(r.o.Server.Timeout, maxStep)
	}
	if limit <= 0 {
		limit = maxStep
	}
	if r.mute {
		return min(limit, muteLimit)
	}
	if first && r.o.Server.URL == "" {
		limit += r.findStartup()
	}
	return limit
}

// findStartup is how long a process may take to start.
func (r *runner) findStartup() time.Duration {
	most := r.o.Server.ConnectTimeout
	if most <= 0 {
		most = plan.DefaultConnectTimeout
	}
	if r.o.Startup > 0 {
		return min(most, 2*r.o.Startup+time.Second)
	}
	return min(most, maxStep)
}

// findGrace is how long a process may take to end.
func (r *runner) findGrace() proc.Grace {
	r.mu.Lock()
	defer r.mu.Unlock()
	g := r.o.Connect.Grace
	if r.ignoresEOF {
		g.Stdin = 100 * time.Millisecond
	}
	return g
}
