// Package lazy compiles regular expressions when they are first used: most runs of the
// program need few of them, and each would make every start slower.
//
// Entry point: [Regexp]. An invalid expression is a mistake of the program and panics.
package lazy
