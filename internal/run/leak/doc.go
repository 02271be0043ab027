// Package leak finds what a server keeps after its sessions: memory, descriptors, threads
// and processes.
//
// [Run] is the entry point: it repeats a unit (a session, or a call) and measures after
// each, until [Estimate] decides; it returns a [Report].
//
//	unit ──► Usage ──► samples ──► Estimate ──► Report ──► text, JSON, Markdown, HTML
//
// Invariants:
//   - an estimate is a pure function of the samples: the same samples, the same verdict;
//   - what was not measured, or does not decide, is never called clean;
//   - nothing is subtracted: the tester is another process.
package leak
