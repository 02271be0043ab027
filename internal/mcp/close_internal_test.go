package mcp

import (
	"context"
	"testing"
	"time"

	"mcptest/internal/proc"
)

// answering is a transport whose server answers what was in flight while the
// session is being closed.
type answering struct {
	inert
	sink Sink
}

func (t *answering) Start(sink Sink) error {
	t.sink = sink
	return nil
}

func (t *answering) Close(context.Context) proc.Stopped {
	t.sink.Frame(Frame{Dir: FromServer, Raw: []byte(`{"jsonrpc":"2.0","id":` + ID(1) + `,"result":{}}`), At: time.Now()})
	t.sink.Flush()
	return proc.Stopped{}
}

// An answer that crosses the end of the session is the first one to its
// request, not a second.
func TestAnswerWhileClosing(t *testing.T) {
	s := newSession(&answering{}, Options{})
	if err := s.t.Start(s); err != nil {
		t.Fatal(err)
	}
	k := waiting(s, "tools/list")
	s.Close(t.Context())
	<-k.ready
	if v := s.TakeViolations(); len(v) > 0 {
		t.Errorf("violations: %v", v)
	}
}
