// Package assert holds the matchers of surfaces: lock, tokens and same-as.
//
// Entry points: Decode reads the argument of a matcher; Check.Run judges what a
// server offers. Nothing is written: lock files are changed by mcptest lock.
package assert
