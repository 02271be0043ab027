// Package probe waits until a program is ready: until a port accepts connections, an
// address responds, or a line appears in a log.
//
// Entry points: [Parse], [Probe.Wait].
//
// A wait ends with its context, with the process, and with the output that a log
// probe reads.
package probe
