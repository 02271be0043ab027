package doctor

import (
	"context"
	"errors"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/run/connect"
)

// checkSecond opens another session while the first is open, as a second client does.
func (e *examination) checkSecond(ctx context.Context) bool {
	first := e.Conn.Session()
	if e.server.URL != "" && first.Era() == protocol.EraStateless {
		return true // its requests belong to no session
	}
	begun := time.Now()
	l := Layer{Name: "second", State: OK, Message: "a second session is served while one is open"}
	other := e.Conn.Another(first.Protocol())
	defer other.Close()
	err := other.Open(ctx)
	l.Took = time.Since(begun)
	switch {
	case err != nil && !errors.As(err, new(*connect.SecondError)):
		l.State, l.Message = Warn, "a second session could not be opened while one is open: "+err.Error()
	case err != nil:
		l.State, l.Message = Warn, "a second session is refused while one is open: "+errors.Unwrap(err).Error()
		l.Hint = "a client that connects while another is connected gets nothing: " + connect.OwnTransport
		if e.server.URL == "" {
			l.Hint = "a second client that starts the server gets nothing: clients start one process each"
		}
	case e.wasReplaced(ctx):
		l.State, l.Message = Warn, "a second session ends the first"
		l.Hint = "clients that connect at the same time take the server from each other: " + connect.OwnTransport
	}
	e.addLayer(l)
	return true
}

// wasReplaced reports whether the first session has ended since a second one was opened.
func (e *examination) wasReplaced(ctx context.Context) bool {
	method := "ping"
	if e.Conn.Session().Era() == protocol.EraStateless {
		method = protocol.MethodDiscover
	}
	x := e.Conn.Do(ctx, method, jsonv.Value{})
	return errors.As(x.Cause, new(*wire.SessionLostError)) ||
		errors.As(x.Cause, new(*wire.ClosedError)) ||
		errors.As(x.Cause, new(*mcp.TimeoutError))
}
