// Package faults tries the built program on everything that goes wrong. It
// holds tests only.
//
// A row of the table (rows_*_test.go) is one fault: a server that misbehaves in
// one way, over standard input and output or over HTTP, a hook, a fixture, a
// suite file, a place to write to, or a signal. It says what the program must
// do: exit code, verdict of each test, words that name the fault, time and
// memory. Servers that are odd and within the protocol are rows that must
// pass.
//
// After each row nothing may be left: no process, no file; and the output may
// hold no stack trace and no byte that a terminal would obey.
//
// `make faults` runs the table, `make soak` runs random plans with random
// faults, signals and parallelism. docs/spec/faults.md is written from the
// table by `go test ./internal/faults -run Page -update`.
//
// The misbehaving servers are this package's test binary. To see one at work:
//
//	go test -c -o /tmp/faults ./internal/faults
//	mcptest tools -- /tmp/faults --fault framing/stray-line
package faults
