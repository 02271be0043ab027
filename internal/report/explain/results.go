package explain

import (
	"fmt"

	"mcptest/internal/base/display"
	"mcptest/internal/report/result"
)

// mostResults limits the lines about results in formats for people.
const mostResults = 5

// Results returns what clients do with results that tests saw: a line for each rule and tool,
// the first ones, and how many more there are.
func Results(r *result.Run) (lines []string) {
	more := 0
	for _, f := range r.Findings {
		switch {
		case f.Kind != result.OfResult:
		case len(lines) < mostResults:
			lines = append(lines, FormatResult(f))
		default:
			more++
		}
	}
	if more > 0 {
		count := display.Count(more, "more finding")
		lines = append(lines, fmt.Sprintf("… and %s about results: all are in the JSON report", count))
	}
	return lines
}

// FormatResult returns a finding about a result in one line.
func FormatResult(f result.Finding) string {
	line := f.Rule + ": " + FormatOnServer(f)
	if f.Test != "" {
		line += " (test " + f.Test + ")"
	}
	return line
}

// KindOf returns the kind of a finding for a column of a table: its rule, if it has one.
func KindOf(f result.Finding) string {
	if f.Rule != "" {
		return f.Rule
	}
	return f.Kind
}
