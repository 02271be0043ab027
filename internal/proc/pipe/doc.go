// Package pipe asks the kernel directly about pipes, without Go's poller: whether
// data has arrived, and whether a reader is left.
//
// Entry points: [Turn.Waiter] waits briefly for data, [ReaderGone] looks for a reader.
//
// Invariants:
//
//   - Waiting ends after a millisecond at the latest, also in a pipe that is closed
//     meanwhile. It reads nothing.
//   - On systems other than Linux nothing waits, and no reader is reported as gone.
package pipe

import "sync/atomic"

// Turn lets one reader at a time wait in the kernel: each keeps one of the
// scheduler's places while it waits. The zero value is ready to use.
type Turn struct{ taken atomic.Bool }
