// Package bench compares the program with the minimum that the same work can cost: a
// small client that writes and reads raw JSON lines. It contains tests only. `make bench`
// prints the table; docs/spec/performance.md explains it and lists the results.
//
// Both sides run as whole processes, started by the same small launcher, and take turns.
// The result is the median of the ratios of all rounds: a busy machine slows both sides
// of a round. The programs are in testdata, each a separate main package, so that none
// pays for the imports of another:
//
//   - echo, a server that does almost no work
//   - sdk, a small tool server made with the official Go SDK
//   - floor, the small client, and the launcher
package bench
