package keeping

import (
	"fmt"
	"strings"

	"mcptest/internal/base/source"
	"mcptest/internal/spec/keep"
)

// shownAround is how many unchanged lines are shown before and after a change.
const shownAround = 3

// diffCreated returns a file that does not exist yet as a unified diff.
func diffCreated(after []byte) []string {
	file := &source.File{Data: after}
	last := file.Lines()
	if last > 0 && file.Line(last) == "" {
		last--
	}
	lines := []string{fmt.Sprintf("@@ new file, %d added @@", last)}
	for _, line := range cutLines(file, 1, last) {
		lines = append(lines, "+ "+line)
	}
	return lines
}

// diffChanged returns the change that an insertion makes, as a unified diff.
func diffChanged(before, after []byte, edit keep.Edit) []string {
	old, now := &source.File{Data: before}, &source.File{Data: after}
	first := old.At(edit.Offset)
	from, to := first.Line, now.At(edit.Offset+len(edit.Text))
	removed := 0
	if first.Col > 1 { // the line of the insertion itself changes
		removed = 1
	}
	last := to.Line
	if to.Col == 1 {
		last--
	}
	start := max(1, from-shownAround)
	var lines []string
	for n := start; n < from; n++ {
		lines = append(lines, "  "+old.Line(n))
	}
	changed := cutLines(now, from, last)
	if removed == 1 && len(changed) > 0 && changed[0] == old.Line(from) { // only its end changed
		lines = append(lines, "  "+changed[0])
		changed, removed = changed[1:], 0
	} else if removed == 1 {
		lines = append(lines, "- "+old.Line(from))
	}
	for _, line := range changed {
		lines = append(lines, "+ "+line)
	}
	for n := last + 1; n <= min(last+shownAround, now.Lines()); n++ {
		if line := now.Line(n); line != "" || n < now.Lines() {
			lines = append(lines, "  "+line)
		}
	}
	head := fmt.Sprintf("@@ line %d, %d added @@", from, len(changed)-removed)
	return append([]string{head}, lines...)
}

func cutLines(f *source.File, from, to int) (lines []string) {
	for n := from; n <= to; n++ {
		lines = append(lines, strings.TrimRight(f.Line(n), "\r"))
	}
	return lines
}
