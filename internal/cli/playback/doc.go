// Package playback records a run to cassettes and replays one: the flags of mcptest
// run, and what they change about its plan and its dependencies.
//
// Entry points: [Flags], and [Flags.Open] for one run.
package playback
