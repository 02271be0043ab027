package wire

import (
	"bytes"
	"context"
	"io"
	"testing"
	"time"
)

// slowPipe accepts a few bytes at a time and then blocks until it is released.
type slowPipe struct {
	io.Writer
	gate chan struct{}
}

func (p *slowPipe) Write(b []byte) (int, error) {
	<-p.gate
	return p.Writer.Write(b)
}

// A partly written line is completed before the next one, even if its sender is cancelled.
func TestWriterCompletesLines(t *testing.T) {
	var out bytes.Buffer
	p := &slowPipe{&out, make(chan struct{})}
	l := NewLineWriter(p)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := l.WriteLine(ctx, []byte("first")); err == nil || out.Len() > 0 {
		t.Error(err)
	}
	if err := l.WriteLine(ctx, []byte("never")); err == nil {
		t.Error("written")
	}
	close(p.gate)
	if err := l.WriteLine(t.Context(), []byte("second")); err != nil {
		t.Error(err)
	}
	if out.String() != "first\nsecond\n" {
		t.Errorf("%q", out.String())
	}
}
