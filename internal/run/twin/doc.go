// Package twin compares what two servers answer to the same call: same_as of a test.
//
// Entry points: [Call] and [Compare]. What differs between two correct servers is not compared: what
// the masks of snapshots find, the server's own name, and what only one era has.
package twin
