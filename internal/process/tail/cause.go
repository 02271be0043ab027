package tail

import (
	"fmt"
	"sort"
	"strings"
	"time"

	"mcptest/internal/base/display"
	"mcptest/internal/base/lazy"
)

// Ends returns the beginning and the end of the kept output, n lines in total, with a
// line between them that counts the omitted ones. If the line with the cause of a
// failure would be omitted, it is included: a stack trace prints many lines after it.
func (t *Tail) Ends(n int) []string { return Ends(t.String(), n) }

// EndsSince returns the same for the output after m, with the time at which each line
// began. The times are nil if output after m was dropped. The time of a line that
// counts omitted ones is that of the first of them.
func (t *Tail) EndsSince(m Mark, n int) (lines []string, at []time.Time) {
	text := t.Since(m)
	lines, numbers := ends(text, n)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.countDropped() > 0 {
		return lines, nil
	}
	offset, number := int64(m), 0
	for raw := range strings.Lines(text) {
		if len(at) < len(numbers) && numbers[len(at)] == number {
			at = append(at, t.time(offset))
		}
		offset, number = offset+int64(len(raw)), number+1
	}
	return lines, at
}

// After returns the mark of what was written after a time, at most stampEvery early.
func (t *Tail) After(at time.Time) Mark {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.stamps) >= stampsEach {
		at = at.Add(-stampEvery)
	}
	i := sort.Search(len(t.stamps), func(i int) bool { return t.stamps[i].at.After(at) })
	if i == len(t.stamps) {
		return Mark(t.total)
	}
	return Mark(t.stamps[i].from)
}

// Last returns the last line that is not empty, and when it was written.
func (t *Tail) Last() (line string, at time.Time) {
	lines := strings.Split(strings.TrimRight(display.StripColors(t.Since(0)), "\r\n \t"), "\n")
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.stamps); n > 0 {
		at = t.stamps[n-1].at
	}
	return strings.TrimSpace(lines[len(lines)-1]), at
}

// time returns the time of the byte at an offset, or of a later one if the stamps
// do not go back that far.
func (t *Tail) time(offset int64) time.Time {
	i := sort.Search(len(t.stamps), func(i int) bool { return t.stamps[i].from > offset })
	return t.stamps[max(i-1, 0)].at
}

// Ends is [Tail.Ends] for a text.
func Ends(text string, n int) []string {
	lines, _ := ends(text, n)
	return lines
}

// ends also returns the index of each line in the text.
func ends(text string, n int) (lines []string, numbers []int) {
	text = strings.TrimRight(display.StripColors(text), "\r\n")
	if text == "" {
		return nil, nil
	}
	all := strings.Split(text, "\n")
	add := func(from, to int) {
		for i := from; i < to; i++ {
			lines, numbers = append(lines, strings.TrimSuffix(all[i], "\r")), append(numbers, i)
		}
	}
	omit := func(from, to int) {
		if from < to {
			lines, numbers = append(lines, fmt.Sprintf("[%s left out]", display.Count(to-from, "line"))), append(numbers, from)
		}
	}
	if len(all) <= n+1 {
		add(0, len(all))
		return lines, numbers
	}
	first, rest := n/4, len(all)-(n-n/4)
	add(0, first)
	if at := causeAt(all); at >= first && at < rest {
		omit(first, at)
		add(at, at+1)
		first = at + 1
	}
	omit(first, rest)
	add(rest, len(all))
	return lines, numbers
}

// npm404 matches the line in which npm says that there is no such package.
var npm404 = lazy.Regexp(`^npm (error|ERR!) 404 Not Found - `)

// Cause returns the line of a program's standard error that explains its failure, or
// "" if none is recognized.
func Cause(lines []string) string {
	if at := causeAt(lines); at >= 0 {
		return strings.TrimSpace(lines[at])
	}
	if len(lines) == 1 {
		return strings.TrimSpace(lines[0])
	}
	return ""
}

// causeAt returns the index of the last line that begins like a runtime's fatal
// error, or -1.
func causeAt(lines []string) int {
	for i := len(lines) - 1; i >= 0; i-- {
		if npm404().MatchString(lines[i]) {
			return i
		}
		head, rest, ok := strings.Cut(strings.TrimSpace(lines[i]), ":")
		if !ok || strings.TrimSpace(rest) == "" {
			continue
		}
		head = strings.TrimPrefix(head, "Uncaught ")
		name, _, _ := strings.Cut(head, " [") // TypeError [ERR_INVALID_ARG_TYPE]: …
		lower := strings.ToLower(head)
		switch {
		case lower == "panic", lower == "fatal", lower == "fatal error", lower == "error":
			return i
		case strings.ContainsAny(name, " \t"):
		case strings.HasSuffix(name, "Error"), strings.HasSuffix(name, "Exception"):
			return i
		}
	}
	return -1
}
