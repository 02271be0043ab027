// Package schemas caches the compiled JSON Schemas of matchers, and the lines of a suite
// that their keywords are in.
//
// [New] returns a [Cache]. Invariant: a schema is compiled at most once for each text and
// base address, however many tests use it; a nil cache compiles each time.
package schemas
