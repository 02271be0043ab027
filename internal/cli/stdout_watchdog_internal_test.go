package cli

import (
	"bytes"
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"mcptest/internal/process/proc"
)

// TestOutputThatNobodyReads: after a signal, a write that hangs ends the program with the
// exit code of the signal; without a signal it does not.
func TestOutputThatNobodyReads(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	killed := make(chan int, 1)
	r, w := io.Pipe()
	defer r.Close()
	out, stop := watchOutput(ctx, w, 40*time.Millisecond, func(code int) { killed <- code })
	defer stop()
	go func() { _, _ = out.Write([]byte("unread")) }()
	select {
	case <-killed:
		t.Fatal("killed without a signal")
	case <-time.After(200 * time.Millisecond):
	}
	cancel(&proc.Interrupted{Signal: "SIGTERM", Code: 143})
	select {
	case code := <-killed:
		if code != 143 {
			t.Errorf("exit code %d, want 143", code)
		}
	case <-time.After(time.Minute):
		t.Error("nothing ended the program")
	}
}

// TestOutputThatIsRead: output that is read does not end the program.
func TestOutputThatIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(context.Background())
		var b bytes.Buffer
		out, stop := watchOutput(ctx, &b, time.Second, func(int) { t.Error("killed") })
		if _, err := out.Write([]byte("read")); err != nil || b.String() != "read" {
			t.Errorf("got %q, %v", b.String(), err)
		}
		cancel(&proc.Interrupted{Code: 130})
		<-time.After(time.Hour)
		stop()
	})
}
