// Package coverage measures how much of what servers offer was examined by the tests of
// a run.
//
// A Use collects the calls of one server's tests: a call counts only if the test made an
// assertion on its result. Measure compares them with the server's definitions. The
// package calls no server and prints nothing.
package coverage
