// Package vigil is the guardian before anything happens: it waits for the end
// of what the runner tells, and goes when the runner says goodbye.
//
// It does that while the packages of the program are initialised, before those
// that take long: they are needed only by a guardian that has something to
// kill. So a variable of this package is set by a function that waits and may
// end the process, the only such thing in this module, and the package may
// import next to nothing (docs/adr/0014-guardian-before-the-rest.md).
//
// Entry points: [Arg] starts a program as the guardian, [Told] is what was told
// to it.
package vigil
