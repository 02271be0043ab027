package record

import (
	"strings"

	"mcptest/internal/assert/expect"
	"mcptest/internal/base/source"
	"mcptest/internal/report/result"
)

// Assertions returns the records of items; file is that of the case.
func Assertions(items []expect.ItemResult, scored bool, file string) []result.Assertion {
	out := make([]result.Assertion, 0, len(items))
	for i := range items {
		it := &items[i]
		r := result.Assertion{
			Name: it.Name, Set: it.Set, Target: it.Target, Matcher: it.Matcher, Pass: it.Pass,
			Message: it.Message, Expected: it.Expected, Actual: it.Actual, Diff: it.Diff, Notes: it.Notes,
			Threshold: it.Threshold, Line: it.Pos.Line, Column: it.Pos.Col,
		}
		if scored || it.Set {
			r.Score = new(it.Score)
		}
		if scored {
			r.Weight = new(it.Weight)
		}
		r.File, r.Source = Place(it.Pos, it.Pass, file)
		if it.Set {
			r.Assertions = Assertions(it.Items, true, file)
		}
		out = append(out, r)
	}
	return out
}

// Place returns the file of an assertion, if it differs from the case's, and the
// line if the assertion failed.
func Place(pos source.Pos, pass bool, caseFile string) (file, line string) {
	if pos.File == nil {
		return "", ""
	}
	if pos.File.Name != caseFile {
		file = pos.File.Name
	}
	if !pass {
		line = SourceLine(pos)
	}
	return file, line
}

// SourceLine returns the line of a position.
func SourceLine(pos source.Pos) string { return strings.TrimRight(pos.File.Line(pos.Line), "\r\n") }
