// Package pipe chooses how a program waits for data in a pipe, and reports whether a
// pipe still has a reader.
//
// Entry points: [Turn.Waiter] waits briefly for data without Go's poller, [Polled]
// makes a reader that always waits in it, [NewSource] one that knows how much is
// unread, [ReaderGone] looks for a reader.
//
// Invariants:
//
//   - A Waiter ends after a millisecond at the latest, also in a pipe that is closed
//     meanwhile. It reads nothing.
//   - On systems other than Linux nothing waits, nothing is known to be unread, and no
//     reader is reported as gone.
package pipe

import "sync/atomic"

// Turn lets one reader at a time wait in the kernel: each keeps one of the
// scheduler's places while it waits. The zero value is ready to use.
type Turn struct{ taken atomic.Bool }
