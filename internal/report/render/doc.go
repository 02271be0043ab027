// Package render is what all report formats share: their options (Options), the
// writers of text, lines and JSON (Out, Printer, JSONWriter) and the wording of
// numbers, durations and places (Number, Duration, Place).
//
// Invariants:
//   - foreign text becomes part of a line through OneLine, Block, Value or
//     Message, which escape and limit it;
//   - a writer keeps the first error and returns it from Flush.
package render
