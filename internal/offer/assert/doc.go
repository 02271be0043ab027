// Package assert implements the matchers of surfaces: lock, tokens and same-as.
//
// Entry points: Decode reads the argument of a matcher; Check.Run evaluates it for the
// definitions of a server. Nothing is written: only mcptest lock changes lock files.
package assert
