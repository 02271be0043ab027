// Package attempts collects the retries or repetitions of one case: their results, and
// the warnings of all of them.
//
// Entry points: [List.Add] after each attempt, [List.Apply] at the end. It knows neither
// sessions nor suites.
package attempts
