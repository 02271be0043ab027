// Package scaffold collects what a first suite for a server is written from
// (mcptest init). Begin describes the server in a draft.Suite without its
// secrets, Observe makes the requests that are safe to try, and Adapt loosens
// the suite after a run of it failed. The suite itself is written by draft.
//
// Invariants:
//   - only tools that are annotated read-only, or named by Options.Call, are
//     called;
//   - a value that looks like a secret is replaced by a variable, whose name
//     and value are in Draft.Secrets; it is never in the suite;
//   - nothing is printed, and no file is written.
package scaffold
