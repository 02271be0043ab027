//go:build !linux

package proc

// rest is not available on this system.
func (s *stdinPipe) rest() []byte { return nil }

// waiting is not available on this system.
func (s *stdinPipe) waiting() int { return 0 }

// waiting is not available on this system.
func (w *wire) waiting() int { return 0 }
