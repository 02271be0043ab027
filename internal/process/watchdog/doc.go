// Package watchdog lets the watchdog process wait before the other packages of
// the program are initialized.
//
// The watchdog is this program, started a second time for each run. It does
// something only if the runner is killed. Initializing all packages takes 8 ms of
// CPU time, a quarter of a short run, so the process waits for the runner's
// goodbye before that, in a function that initializes a variable of this package
// and may end the process. It is the only such function in this module. The
// package may import almost nothing, because Go initializes a package after its
// imports (docs/adr/0014-watchdog-before-the-rest.md).
//
// Entry points: [Arg] is the argument that makes the program a watchdog, [Input]
// is what the runner has sent.
package watchdog
