package wire

import (
	"context"
	"io"
)

// pipeSize is the capacity of each direction of an in-process connection.
const pipeSize = 256 << 10

// NewPipe returns the two ends of an in-process connection: a transport for a
// session, and the stream a server reads and writes.
func NewPipe() (client Transport, server io.ReadWriteCloser) {
	up, down := NewFeed(pipeSize), NewFeed(pipeSize)
	return NewStream(down.Open(context.Background()), up, Limits{}), pipeEnd{up.Open(context.Background()), down}
}

type pipeEnd struct {
	io.ReadCloser
	out *Feed
}

func (p pipeEnd) Write(b []byte) (int, error) { return p.out.Write(b) }

// Close ends both directions.
func (p pipeEnd) Close() error {
	_ = p.out.Close()
	return p.ReadCloser.Close()
}
