// Package bench compares the program with the least that the same work can
// cost: a client of a few lines that writes and reads raw JSON lines. It holds
// tests only. `make bench` prints the table; docs/spec/performance.md explains
// it and keeps the figures.
//
// Both sides are whole processes, started by the same small launcher, in
// rounds that alternate between them. What counts is the median of the ratios
// of the rounds: a busy machine slows both sides of a round. The programs they
// need are below testdata, each a main package of its own, so that none pays
// for what another imports:
//
//   - echo, a server that answers with almost no work
//   - sdk, a small tool server made with the official Go SDK
//   - floor, the client of a few lines, and the launcher
package bench
