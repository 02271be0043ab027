package aql_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"mcptest/internal/mcpaql/demo"
	"mcptest/internal/mcpaql/live"
	"mcptest/internal/mcpaql/live/guard"
	"mcptest/internal/server/mcpserver"
)

// An adapter that is silent in its other endpoint mode costs that mode only.
func TestSecondLaunchThatHangs(t *testing.T) {
	t.Parallel()
	dial := dialer(t, func(variant string) mcpserver.Handler {
		return spoiled(t, demo.Options{Mode: "crude"}, func(_ int, req *mcpserver.Request, _ func() *mcpserver.Reply) *mcpserver.Reply {
			if variant != "" {
				<-time.After(hang)
			}
			return nil
		})
	})
	e := collect(t, guard.Options{Dial: dial, CallTimeout: 150 * time.Millisecond})
	if len(e.OperationDetails) == 0 {
		t.Error("nothing was looked at")
	}
}

// A mistake of this program in the middle of a run loses nothing of what was
// seen, and what was created is removed.
func TestPanicKeepsTheEvidence(t *testing.T) {
	t.Parallel()
	state := t.TempDir() + "/library.json"
	for _, phase := range []string{"introspection", "requests", "round trips"} {
		e, err := live.Collect(context.Background(), guard.Options{
			Dial: library(t, demo.Options{State: state}), Mode: guard.ModeWrite, Spread: time.Millisecond,
			Progress: func(p guard.Progress) {
				if p.Phase == phase {
					panic("planted")
				}
			},
		})
		var broken *live.BrokenRunError
		if !errors.As(err, &broken) || broken.Value != "planted" || e == nil {
			t.Fatalf("%s: %v", phase, err)
		}
		if ended := e.Live.Lookup("ended").Text(); ended != broken.Error() {
			t.Errorf("%s: ended %q", phase, ended)
		}
		if phase != "introspection" && !bytes.Contains(e.JSON().Append(nil), []byte("create_book")) {
			t.Errorf("%s: the evidence is lost", phase)
		}
		if phase == "round trips" {
			if left := markedIn(t, state); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		}
	}
}
