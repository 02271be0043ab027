package tail

import (
	"fmt"
	"strings"

	"mcptest/internal/display"
)

// Ends returns the beginning and the end of the kept output, n lines in total, with a
// line between them that counts the omitted ones. If the line with the cause of a
// failure would be omitted, it is included: a stack trace prints many lines after it.
func (t *Tail) Ends(n int) []string { return Ends(t.String(), n) }

// Ends is [Tail.Ends] for a text.
func Ends(text string, n int) []string {
	text = strings.TrimRight(display.WithoutColors(text), "\r\n")
	if text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSuffix(l, "\r")
	}
	if len(lines) <= n+1 {
		return lines
	}
	first, rest := n/4, len(lines)-(n-n/4)
	out := append([]string(nil), lines[:first]...)
	if at := causeAt(lines); at >= first && at < rest {
		out = append(leftOut(out, at-first), lines[at])
		first = at + 1
	}
	return append(leftOut(out, rest-first), lines[rest:]...)
}

func leftOut(lines []string, n int) []string {
	switch n {
	case 0:
		return lines
	case 1:
		return append(lines, "[1 line left out]")
	}
	return append(lines, fmt.Sprintf("[%d lines left out]", n))
}

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
		head, rest, ok := strings.Cut(strings.TrimSpace(lines[i]), ":")
		if !ok || strings.TrimSpace(rest) == "" {
			continue
		}
		head = strings.TrimPrefix(head, "Uncaught ")
		name, _, _ := strings.Cut(head, " [") // TypeError [ERR_INVALID_ARG_TYPE]: …
		switch lower := strings.ToLower(head); {
		case lower == "panic", lower == "fatal", lower == "fatal error", lower == "error":
			return i
		case strings.ContainsAny(name, " \t"):
		case strings.HasSuffix(name, "Error"), strings.HasSuffix(name, "Exception"):
			return i
		}
	}
	return -1
}
