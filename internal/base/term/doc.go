// Package term handles terminals: the color profile, the display width of text, escaping of
// text that is not under our control, and the status line that is repainted during a run.
//
// Start reading at Detect (profile.go), then Palette (palette.go), Escape (escape.go) and
// Status (status.go).
//
// Invariants:
//   - only Status writes to a stream, and only to a terminal, except for Status.Print, which
//     passes text through unchanged;
//   - text from a server, a hook or a suite reaches a terminal only through Escape and
//     EscapeLines; their results contain no control character, no bidirectional override and
//     no invisible character;
//   - there is no package state: callers pass colors on as values.
package term
