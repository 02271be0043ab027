package evidence

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"mcptest/internal/display"
	"mcptest/internal/jsonv"
)

// Pattern compiles a regular expression on first use: most starts of the programs
// need none of them.
func Pattern(s string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(s) })
}

// maxNamed is the maximum number of names in one sentence.
const maxNamed = 6

// Several lists the first names and counts the others.
func Several(names []string) string {
	if n := len(names) - maxNamed; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNamed], ", "), n)
	}
	return strings.Join(names, ", ")
}

// Brief formats a value for a message.
func Brief(v jsonv.Value) string {
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
		return "a string (" + Quoted(display.Truncate(v.Text(), 40)) + ")"
	case jsonv.KindArray:
		return fmt.Sprintf("a list of %d", v.Len())
	}
	return fmt.Sprintf("an object of %d", v.Len())
}

// Quoted returns s as a JSON string.
func Quoted(s string) string { return string(jsonv.AppendString(nil, s)) }

// SnakeCase is the form of names that the specification prescribes.
var SnakeCase = Pattern(`^[a-z][a-z0-9_]*$`)
