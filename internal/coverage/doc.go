// Package coverage finds out how much of what servers offer was examined by
// the tests of a run.
//
// A Use collects the calls of the tests of one server: a call counts only if
// the test made an assertion on its result. Measure compares it with what the
// server offers. Nothing is called or printed here.
package coverage
