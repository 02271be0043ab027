package mcp_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"mcptest/internal/base/testkit"
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
		x := s.Do(t.Context(), call)
		testkit.Equal(t, "the cause of the answered call", x.Cause, nil)
		testkit.Equal(t, "whether the answered call is unread", x.Unread, false)
		x = s.Do(t.Context(), call)
		testkit.Equal(t, "whether the next call is answered", x.Answered(), false)
		testkit.Equal(t, "whether the next call is unread", x.Unread, true)
		s.Close(context.Background())
	}
}

// A server that exits before the first request can be written has not read it, either:
// that request is not why it exited.
func TestUnreadDetection(t *testing.T) {
	t.Parallel()
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
