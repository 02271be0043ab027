package connect_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mcptest/internal/client/mcp"
	"mcptest/internal/client/wire"
	"mcptest/internal/run/connect"
)

// A server that accepts the connection and does not respond is tried again, and
// the next attempts end with the time that is given.
func TestRetryAfterAHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := func(ctx context.Context, first bool) error {
			var limit *mcp.Limit
			if first {
				limit = &mcp.Limit{Name: "connect_timeout", For: time.Millisecond}
			} else {
				<-ctx.Done()
				if !errors.As(context.Cause(ctx), &limit) {
					return ctx.Err()
				}
			}
			return &wire.OpenError{Phase: "initialize", Cause: &mcp.TimeoutError{Method: "initialize", Limit: limit.Error()}}
		}
		n := 0
		err := connect.Retry(t.Context(), time.Minute, func(ctx context.Context) error {
			if n++; n == 1 {
				return hang(ctx, true)
			}
			return nil
		})
		if err != nil || n != 2 {
			t.Error(n, err)
		}
		n = 0
		err = connect.Retry(t.Context(), 600*time.Millisecond, func(ctx context.Context) error {
			n++
			return hang(ctx, n == 1)
		})
		var late *connect.NotReadyError
		if !errors.As(err, &late) || n != 2 || !strings.Contains(err.Error(), "(limit: wait_for_ready 600ms)") {
			t.Error(n, err)
		}
		n = 0
		if err = connect.Retry(t.Context(), time.Minute, func(context.Context) error { n++; return errors.New("no") }); err == nil || n != 1 {
			t.Error(n, err)
		}
	})
}
