package mcp_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"mcptest/internal/client/mcp"
	"mcptest/internal/client/wire"
)

// A server that is silent after a call timed out is sent a ping; one that only does not
// respond to that call is kept.
func TestUnresponsiveServer(t *testing.T) {
	for name, stuck := range map[string]bool{"none": false, "hang": false, "hang-and-deaf": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := mcp.Open(t.Context(), start(t, name, wire.Limits{}), mcp.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close(t.Context())
			if err := s.CheckAlive(t.Context()); err != nil {
				t.Errorf("before any call: %v", err)
			}
			ctx, cancel := mcp.WithLimit(t.Context(), "timeout", 100*time.Millisecond)
			defer cancel()
			if name == "none" {
				ctx = t.Context()
			}
			s.Do(ctx, mcp.Call{Method: "tools/call"})
			err = s.CheckAlive(t.Context())
			if got := errors.As(err, new(*mcp.UnresponsiveError)); got != stuck {
				t.Errorf("stuck: %v (%v), want %v", got, err, stuck)
			}
			if stuck && !strings.Contains(err.Error(), "not even to a ping") {
				t.Error(err)
			}
		})
	}
}
