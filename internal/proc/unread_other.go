//go:build !linux

package proc

// rest is not known on this system.
func (s *stdinPipe) rest() []byte { return nil }
