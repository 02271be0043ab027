package mcp_test

import (
	"context"
	"testing"

	"mcptest/internal/client/mcp"
	"mcptest/internal/client/wire"
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
