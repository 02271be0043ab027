package expect

import (
	"cmp"
	"context"
	"fmt"

	"mcptest/internal/assert/textdiff"
	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

const anySchema = `true`

var rowExact = Row{
	Name: "exact", Doc: "the value is deeply equal; numbers are compared by value, so 1 equals 1.0",
	Example: "exact: {id: 7, tags: [a, b]}", Passes: `{"tags":["a","b"],"id":7.0}`, Fails: `{"tags":["b","a"],"id":7}`,
	schema: anySchema, compile: compileExact,
}

func compileExact(_ *compiler, n *source.Node, _ string) Matcher { return exactly{n.JSON()} }

// exactly matches one value.
type exactly struct{ want jsonv.Value }

func (m exactly) Match(_ context.Context, s Subject, _ *Env) Outcome {
	if jsonv.Equal(m.want, s.Value) {
		return passed
	}
	o := Outcome{Expected: show(m.want, shownAlone), Actual: show(s.Value, shownAlone)}
	o.Msg, o.Diff = difference(m.want, s.Value)
	o.Notes = numberOrText(m.want, s.Value)
	return o
}

// difference describes in one line, and in lines of detail if useful, how a value
// differs from the expected one.
func difference(want, v jsonv.Value) (msg string, lines []string) {
	switch {
	case want.Kind() != v.Kind():
		return "expected " + got(want) + ", got " + got(v), nil
	case want.Kind() == jsonv.KindString:
		return textdiff.Difference(want.Text(), v.Text())
	case want.Kind() == jsonv.KindArray || want.Kind() == jsonv.KindObject:
		changes := jsonv.Diff(want, v)
		return changesMessage(changeLines(changes), len(changes))
	}
	return "expected " + show(want, shownInLine) + ", got " + show(v, shownInLine), nil
}

// numberOrText returns a note about a value with the expected spelling but another
// type, which is common in CSV files and texts.
func numberOrText(want, v jsonv.Value) []string {
	switch {
	case want.Kind() == jsonv.KindNumber && v.Kind() == jsonv.KindString && v.Text() == want.Literal():
		return []string{"write " + got(v)[len("text "):] + " in quotes (in a CSV file, too), or use is-json: {const: " + want.Literal() + "}"}
	case want.Kind() == jsonv.KindString && v.Kind() == jsonv.KindNumber && want.Text() == v.Literal():
		return []string{"write " + v.Literal() + " without quotes"}
	}
	return nil
}

// changeLines formats structural differences, one per line.
func changeLines(changes []jsonv.Change) []string {
	lines := make([]string, 0, min(len(changes), maxLines))
	for _, ch := range changes[:min(len(changes), maxLines)] {
		path := cmp.Or(display.Truncate(ch.Path, shownInLine), "the value")
		switch ch.Kind {
		case jsonv.Added:
			lines = append(lines, path+": not expected, got "+show(ch.Got, shownKey))
		case jsonv.Removed:
			lines = append(lines, path+": missing, expected "+show(ch.Want, shownKey))
		default:
			lines = append(lines, path+": "+wantGot(ch.Want, ch.Got))
		}
	}
	return lines
}

// wantGot formats two different values next to each other.
func wantGot(want, v jsonv.Value) string {
	if want.Kind() == jsonv.KindString && v.Kind() == jsonv.KindString {
		return "expected " + textdiff.Pair(want.Text(), v.Text(), ", got ")
	}
	if want.Kind() != v.Kind() {
		return "expected " + shape(want) + ", got " + shape(v)
	}
	return "expected " + show(want, shownKey) + ", got " + show(v, shownKey)
}

// changesMessage summarizes lines of differences; n is the number of all differences.
func changesMessage(lines []string, n int) (string, []string) {
	if n == 1 {
		return lines[0], nil
	}
	if more := n - len(lines); more > 0 {
		lines = append(lines, fmt.Sprintf("… and %d more", more))
	}
	return fmt.Sprintf("%d differences, the first: %s", n, lines[0]), lines
}
