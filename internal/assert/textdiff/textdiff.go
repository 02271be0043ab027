package textdiff

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
)

// Limits of a text diff: neither the work nor the output may depend on the data of a
// server.
const (
	maxDiffBytes = 64 << 10
	maxDiffLines = 2000
	diffContext  = 3
	maxLines     = 40 // of a diff
)

// Difference describes how two different texts differ: with a unified diff if one has
// several lines, otherwise with the position of the first difference.
func Difference(want, v string) (string, []string) {
	if !strings.Contains(want, "\n") && !strings.Contains(v, "\n") {
		return "expected " + Pair(want, v, ", got "), nil
	}
	at := commonPrefix(want, v)
	n := strings.Count(want[:at], "\n")
	a, b := lineAt(want, at), lineAt(v, at)
	return fmt.Sprintf("the texts differ from line %d on: expected %s", n+1, Pair(a, b, ", got ")), unifiedDiff(want, v)
}

// lineAt returns the line of a text that contains a byte offset.
func lineAt(s string, at int) string {
	from := strings.LastIndexByte(s[:at], '\n') + 1
	if n := strings.IndexByte(s[from:], '\n'); n >= 0 {
		return s[from : from+n]
	}
	return s[from:]
}

// Pair formats two texts, or the parts around their first difference if they are
// long.
func Pair(want, v, between string) string {
	const whole = 80
	if len(want) <= whole && len(v) <= whole {
		return quote(want) + between + quote(v) + lookAlike(want, v)
	}
	at := commonPrefix(want, v)
	out := Window(want, at) + between + Window(v, at)
	if n := utf8.RuneCountInString(want[:at]); n > 0 {
		out += fmt.Sprintf(" (the first difference is at character %d)", n+1)
	}
	return out
}

// lookAlike describes the first different characters of two texts if they look alike:
// letters of other scripts, combining marks, unusual spaces.
func lookAlike(want, v string) string {
	at := commonPrefix(want, v)
	plain := func(s string) bool { return at == len(s) || s[at] < utf8.RuneSelf }
	if plain(want) && plain(v) {
		return ""
	}
	spelt := func(s string) string {
		end := min(len(s), at+12)
		for end < len(s) && !utf8.RuneStart(s[end]) {
			end++
		}
		return strconv.QuoteToASCII(s[at:end])
	}
	return fmt.Sprintf(" (character %d on, spelled out: expected %s, got %s)", utf8.RuneCountInString(want[:at])+1, spelt(want), spelt(v))
}

// commonPrefix returns the length of the common prefix of two texts, in bytes of
// whole characters.
func commonPrefix(a, b string) int {
	n := min(len(a), len(b))
	i := 0
	for i < n && a[i] == b[i] {
		i++
	}
	for i > 0 && i < len(a) && !utf8.RuneStart(a[i]) {
		i--
	}
	return i
}

// unifiedDiff returns the lines of a unified diff, without its file names.
func unifiedDiff(want, v string) []string {
	if !strings.HasSuffix(want, "\n") && !strings.HasSuffix(v, "\n") {
		want, v = want+"\n", v+"\n" // avoids remarks about a missing newline at the end
	}
	want, v, skipped := trimCommon(want, v)
	whole := len(want) + len(v)
	want, v = firstLines(want), firstLines(v)
	cut := len(want)+len(v) < whole
	out, err := udiff.ToUnified("expected", "actual", want, udiff.Lines(want, v), diffContext)
	if err != nil {
		return nil
	}
	var lines []string
	rest := 0
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "--- expected") || strings.HasPrefix(line, "+++ actual") {
			continue
		}
		if len(lines) == maxLines-1 { // the last line describes what is omitted
			rest++
			continue
		}
		lines = append(lines, hunkAt(strings.TrimSuffix(line, "\n"), skipped))
	}
	switch {
	case cut && rest > 0:
		lines = append(lines, fmt.Sprintf("… %s of the diff are not shown, and the texts go on: only their parts around the first difference were compared", display.Count(rest, "line")))
	case cut:
		lines = append(lines, "… the texts are longer; only their parts around the first difference were compared")
	case rest > 0:
		lines = append(lines, fmt.Sprintf("… %s of the diff not shown", display.Count(rest, "line")))
	}
	return lines
}

// hunkAt adds the number of lines that were removed before a hunk to its line
// numbers.
func hunkAt(line string, skipped int) string {
	var a, an, b, bn int
	if !strings.HasPrefix(line, "@@ ") {
		return line
	}
	if k, _ := fmt.Sscanf(line, "@@ -%d,%d +%d,%d @@", &a, &an, &b, &bn); k == 4 {
		return fmt.Sprintf("@@ -%d,%d +%d,%d @@", a+skipped, an, b+skipped, bn)
	}
	return line
}

// trimCommon removes the common first lines of both texts, except some context, and
// returns their number.
func trimCommon(want, v string) (string, string, int) {
	at := strings.LastIndexByte(want[:commonPrefix(want, v)], '\n') + 1
	for range diffContext {
		if at > 0 {
			at = strings.LastIndexByte(want[:at-1], '\n') + 1
		}
	}
	return want[at:], v[at:], strings.Count(want[:at], "\n")
}

// firstLines shortens a text to the part that a diff uses, at the end of a line if
// possible.
func firstLines(s string) string {
	if len(s) > maxDiffBytes {
		s = s[:maxDiffBytes]
		if i := strings.LastIndexByte(s, '\n'); i > 0 {
			s = s[:i+1]
		}
	}
	lines := strings.SplitAfterN(s, "\n", maxDiffLines+1)
	return strings.Join(lines[:min(len(lines), maxDiffLines)], "")
}

// Window returns the part of a text around a byte offset, in quotes.
func Window(s string, at int) string {
	const before, after = 24, 64
	from, to := at, at
	for n := 0; n < before && from > 0; n++ {
		_, size := utf8.DecodeLastRuneInString(s[:from])
		from -= size
	}
	for n := 0; n < after && to < len(s); n++ {
		_, size := utf8.DecodeRuneInString(s[to:])
		to += size
	}
	out := quote(s[from:to])
	if from > 0 {
		out = `"…` + out[1:]
	}
	if to < len(s) {
		out = out[:len(out)-1] + `…"`
	}
	return out
}

func quote(s string) string { return string(jsonv.AppendString(nil, s)) }

// FoldCase maps texts that differ only in case to the same text: every character
// becomes the smallest one of its simple case-folding orbit (Unicode CaseFolding.txt,
// status C and S), so that ſ, s and S are equal.
func FoldCase(s string) string {
	ascii := true
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			ascii = false
			break
		}
	}
	if ascii {
		return strings.ToUpper(s)
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			b.WriteByte(s[i])
		} else {
			b.WriteRune(smallestFold(r))
		}
		i += size
	}
	return b.String()
}

func smallestFold(r rune) rune {
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	return least
}
