// Package verdict holds the verdicts of a probe: the result of each rule in each
// revision, the score over them, and their formats.
//
// Entry points: [Report.Document], [Report.Fails] and [Report.Accept], which applies a
// baseline. It is pure: it sends nothing, and neither masks nor escapes what others wrote,
// except where it prints.
package verdict
