// Package usage measures what a process group uses: memory, descriptors, threads and
// processes.
//
// [New] is the entry point. On Linux everything is read from /proc. On macOS the resident
// memory is asked for with ps once a second, and descriptors and threads are not measured;
// on other systems nothing is.
//
// Invariant: what was not measured is [Unknown], never 0.
package usage
