package stored

import (
	"bytes"
	"strings"

	"mcptest/internal/base/source"
)

// FindConflict reports an unresolved merge conflict in a file; again is the command that
// writes the file.
func FindConflict(f *source.File, again string) (d source.Diagnostic, found bool) {
	line := findConflictLine(f.Data)
	if line == 0 {
		return d, false
	}
	d = source.Errorf(source.Pos{File: f, Line: line, Col: 1}, "", "the file has an unresolved merge conflict")
	d.Hint = "keep one of the sides, then run " + again
	return d, true
}

// findConflictLine returns the first line that git writes into a conflict.
func findConflictLine(data []byte) int {
	n := 0
	for line := range bytes.Lines(data) {
		n++
		if isConflict(strings.TrimRight(string(line), "\r\n")) {
			return n
		}
	}
	return 0
}

func isConflict(line string) bool {
	for _, mark := range []string{"<<<<<<<", ">>>>>>>", "|||||||"} {
		if rest, ok := strings.CutPrefix(line, mark); ok && (rest == "" || rest[0] == ' ') {
			return true
		}
	}
	return line == "======="
}
