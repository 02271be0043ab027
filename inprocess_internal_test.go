package mcptest

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
)

// A failure after the time limit closes nothing: its connection may be a nil pointer.
func TestConnectionFailsTooLate(t *testing.T) {
	type conn struct{ io.ReadWriteCloser }
	synctest.Test(t, func(t *testing.T) {
		limit, cancel := context.WithCancel(t.Context())
		cancel()
		late := make(chan struct{})
		_, err := openedBefore(limit, func() (io.ReadWriteCloser, error) {
			<-late
			return (*conn)(nil), errors.New("no server")
		})
		close(late)
		synctest.Wait()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}
