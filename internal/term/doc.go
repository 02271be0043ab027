// Package term is what the programs know about terminals: how many colors
// one has, how wide a text is on it, how text that comes from elsewhere is
// made harmless before it is printed, and the one status line that is
// repainted while a run goes on.
//
// Start reading at Detect (profile.go), then Palette (palette.go), Escape
// (escape.go) and Status (status.go).
//
// Invariants:
//   - nothing here writes to a stream that is not a terminal, but Status.Print,
//     which passes text through as it is;
//   - Escape and EscapeLines are the only way by which foreign text reaches a
//     terminal, and what they return holds no control character, no
//     bidirectional override and no invisible character;
//   - there is no package state: colors are a value that callers pass on.
package term
