// Package attempts collects the retries, repetitions or trials of one case: their results,
// the warnings of all of them, and what they decide together.
//
// Entry points: [List.Add] after each attempt, [List.Apply] at the end; [Trials.Run]. It
// knows no sessions.
package attempts
