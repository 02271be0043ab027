// Package render is shared by all report formats: their options (Options), the
// writers of text, lines and JSON (Out, Printer, JSONWriter) and the formatting of
// numbers, durations and positions (Number, Duration, Place).
//
// Invariants:
//   - foreign text is added to a line by OneLine, Block, Value or Message, which
//     escape and limit it;
//   - a writer keeps the first error and returns it from Flush.
package render
