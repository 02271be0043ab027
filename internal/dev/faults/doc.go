// Package faults tests the built program with everything that goes wrong. It
// contains tests only.
//
// A row of the table (rows_*_test.go) is one fault: a server that misbehaves in
// one way, over standard input and output or over HTTP, a hook, a fixture, a
// suite file, an output path, or a signal. It states what the program must do:
// exit code, verdict of each test, words that name the fault, time and memory.
// Servers that are unusual but within the protocol are rows that must pass.
//
// After each row no process and no file may be left, and the output may contain
// no stack trace and no byte that a terminal would interpret.
//
// `make faults` runs the table, `make faults-table` prints it, `make soak` runs
// random plans with random faults, signals and parallelism. The families are
// described in docs/spec/faults.md.
//
// The misbehaving servers are this package's test binary. To see one at work:
//
//	go test -c -o /tmp/faults ./internal/dev/faults
//	mcptest tools -- /tmp/faults --fault framing/stray-line
package faults
