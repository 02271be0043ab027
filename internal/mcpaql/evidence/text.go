package evidence

import (
	"fmt"
	"strconv"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lazy"
)

// Pattern compiles a regular expression on first use: most starts of the programs
// need none of them.
var Pattern = lazy.Regexp

// maxNamed is the maximum number of names in one sentence.
const maxNamed = 6

// JoinFirst lists the first names and counts the others.
func JoinFirst(names []string) string {
	if n := len(names) - maxNamed; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNamed], ", "), n)
	}
	return strings.Join(names, ", ")
}

// FormatBrief formats a value for a message.
func FormatBrief(v jsonv.Value) string {
	if v.IsAbsent() {
		return "nothing"
	}
	return display.Truncate(v.String(), 80)
}

// Describe describes a value for messages: `a number (42)`.
func Describe(v jsonv.Value) string {
	switch v.Kind() {
	case jsonv.KindAbsent:
		return "nothing"
	case jsonv.KindNull:
		return "null"
	case jsonv.KindBool:
		return strconv.FormatBool(v.Bool())
	case jsonv.KindNumber:
		return "a number (" + display.Truncate(v.Literal(), 24) + ")"
	case jsonv.KindString:
		return "a string (" + QuoteStart(v.Text(), 40) + ")"
	case jsonv.KindArray:
		return fmt.Sprintf("a list of %d", v.Len())
	}
	return fmt.Sprintf("an object of %d", v.Len())
}

// Quote returns s as a JSON string.
func Quote(s string) string { return string(jsonv.AppendString(nil, s)) }

// QuoteStart returns the first columns of s as a JSON string.
func QuoteStart(s string, columns int) string { return Quote(display.Truncate(s, columns)) }
