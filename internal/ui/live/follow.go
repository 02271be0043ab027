package live

import (
	"bytes"
	"time"

	"mcptest/internal/client/conn"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
)

// follower makes rows of the events of one connection.
type follower struct {
	feed   *Feed
	server int
	conn   int64
	open   map[request]sent // requests without a response; guarded by the lock of the feed
}

// request names a request by its direction and its id.
type request struct {
	toServer bool
	id       string
}

type sent struct {
	at     time.Time
	method string
}

// maxOpen bounds the requests that are remembered until their response.
const maxOpen = 10_000

// maxStderr bounds one row of standard error.
const maxStderr = 16 << 10

// follow returns the function that adds the events of a new connection with a server.
func (f *Feed) follow(server int) func(conn.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.conns++
	w := &follower{feed: f, server: server, conn: f.conns, open: map[request]sent{}}
	return w.add
}

// add adds an event.
func (w *follower) add(e conn.Event) {
	r := Row{
		At: e.At, Server: w.server, Took: -1, ID: e.ID, Violations: e.Violations, Withdrawn: e.Withdrawn, conn: w.conn,
	}
	if e.Frame != nil {
		r.Raw = bytes.Clone(e.Frame.Raw[:min(len(e.Frame.Raw), maxRaw)])
	}
	w.feed.mu.Lock()
	defer w.feed.mu.Unlock()
	switch {
	case e.Frame != nil:
		w.frame(&r, e.Frame)
	case e.Stderr != "":
		r.Kind, r.Size = Stderr, int64(len(e.Stderr))
		r.Text = e.Stderr[:min(len(e.Stderr), maxStderr)]
	case e.HTTP != nil:
		r.Kind, r.Status, r.Text = HTTP, e.HTTP.Status, string(e.HTTP.Body)
		r.Method = w.open[request{true, e.ID}].method
	case e.End != nil:
		r.Kind, r.Text = End, e.End.Error()
	default:
		r.Kind, r.Of = Finding, w.rowOf(e)
	}
	w.feed.add(r)
}

// frame completes the row of a frame.
func (w *follower) frame(r *Row, f *conn.FrameEvent) {
	r.ToServer, r.Size, r.Method, r.ID = f.Dir == wire.ToServer, f.Size, f.Method, f.ID
	switch {
	case r.Method != "" && r.ID != "":
		r.Kind = Request
		if len(w.open) >= maxOpen {
			clear(w.open)
		}
		w.open[request{r.ToServer, r.ID}] = sent{r.At, r.Method}
	case r.Method != "":
		r.Kind = Notification
	case r.ID != "":
		r.Kind = Response
		asked := request{!r.ToServer, r.ID}
		if s, ok := w.open[asked]; ok {
			r.Method, r.Took = s.method, r.At.Sub(s.at)
			delete(w.open, asked)
		}
	default:
		r.Kind = NoMessage
	}
}

// rowOf returns the row that violations belong to which were found later: that of the
// response to their call. For those that are withdrawn it is the row that has them.
func (w *follower) rowOf(e conn.Event) int64 {
	return w.feed.latest(func(r *Row) bool {
		switch {
		case r.conn != w.conn || r.ToServer:
			return false
		case len(e.Withdrawn) > 0:
			return has(r.Violations, e.Withdrawn[0])
		}
		return e.ID != "" && r.Kind == Response && r.ID == e.ID
	})
}

func has(list []protocol.Violation, v protocol.Violation) bool {
	for _, have := range list {
		if have.Kind == v.Kind && have.Offset == v.Offset {
			return true
		}
	}
	return false
}
