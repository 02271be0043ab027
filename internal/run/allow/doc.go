// Package allow decides which tools of a server may be called by a command whose user
// has not named the calls: a probe, a load test, an agent.
//
// [Policy.Call] is the entry point, [Policy.Permits] only asks, and [Policy.Repeats] is for a load. Invariants: the name of a tool never counts as a
// promise; a tool without readOnlyHint: true is called only if the user named it exactly.
package allow
