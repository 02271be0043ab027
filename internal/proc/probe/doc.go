// Package probe waits until a program is ready: until a port accepts
// connections, an address answers, or a line is in a log.
//
// Entry points: [Parse], [Probe.Wait].
//
// A wait ends with its context, with the process that is waited for, and with
// the output that a log probe reads.
package probe
