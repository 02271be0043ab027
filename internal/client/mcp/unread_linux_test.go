package mcp_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"mcptest/internal/client/mcp"
	"mcptest/internal/client/wire"
	"mcptest/internal/process/proc"
)

// TestUnread: a call to a server that ended right after its last response is
// known not to have been read.
func TestUnread(t *testing.T) {
	for range 20 {
		s, err := mcp.Open(t.Context(), start(t, "answer-then-exit", wire.Limits{}), mcp.Options{})
		if err != nil {
			t.Fatal(err)
		}
		call := mcp.Call{Method: "tools/call", Params: []byte(`{"name":"t"}`)}
		if x := s.Do(t.Context(), call); x.Cause != nil || x.Unread {
			t.Errorf("the answered call: %v, unread %t", x.Cause, x.Unread)
		}
		if x := s.Do(t.Context(), call); x.Cause == nil || !x.Unread {
			t.Errorf("the next call: %v, unread %t", x.Cause, x.Unread)
		}
		s.Close(context.Background())
	}
}

// A server that exits before the first request can be written has not read it, either:
// that request is not why it exited.
func TestUnreadDetection(t *testing.T) {
	tr, err := wire.NewStdio(t.Context(), proc.Spec{Argv: []string{"sh", "-c", "exit 1"}}, wire.StdioOptions{})
	if err != nil {
		t.Fatal(err)
	}
	<-tr.Facts().Process.Done()
	s, err := mcp.Open(t.Context(), tr, mcp.Options{Protocol: mcp.Auto, Redial: func(context.Context) (wire.Transport, error) {
		return start(t, "answer-then-exit", wire.Limits{}), nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(context.Background())
	var died *wire.ClosedError
	if !errors.As(s.Restarted(), &died) || !bytes.Contains(died.Unread, []byte(`"server/discover"`)) {
		t.Errorf("want the unread request server/discover in %#v", s.Restarted())
	}
}
