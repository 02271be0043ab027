// Package playback records a run to cassettes and replays one: it defines the flags
// of mcptest run, and adapts the plan and the dependencies of the run.
//
// Entry points: [Flags], and [Flags.Open] for one run.
package playback
