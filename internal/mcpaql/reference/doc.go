// Package reference reproduces how the specification's prototype runner, a
// JavaScript program, compares, prints and walks JSON values (ECMA-262). Code
// belongs here only if the verdicts of the reference rule set depend on it.
package reference
