package match

import (
	"cmp"
	"context"
	"fmt"

	"mcptest/internal/assert/shown"
	"mcptest/internal/assert/target"
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

func compileExact(_ *Compiler, n *source.Node, _ string) Matcher { return exactly{n.JSON()} }

// exactly matches one value.
type exactly struct{ want jsonv.Value }

func (m exactly) Match(_ context.Context, s target.Subject, env *Env) Outcome {
	if quotesBoolean(m.want, s, env) {
		return Outcome{
			Unfit: true,
			Msg: "the tool's outputSchema says that this is a boolean, never the text " + shown.Value(m.want, shown.InLine) +
				": without quotes: exact: " + m.want.Text(),
		}
	}
	if jsonv.Equal(m.want, s.Value) {
		return passed
	}
	o := Outcome{Expected: shown.Value(m.want, shown.Alone), Actual: shown.Value(s.Value, shown.Alone)}
	o.Msg, o.Diff = Difference(m.want, s.Value)
	o.Notes = numberOrText(m.want, s.Value)
	return o
}

// Difference describes in one line, and in lines of detail if useful, how a value
// differs from the expected one.
func Difference(want, v jsonv.Value) (msg string, lines []string) {
	switch {
	case want.Kind() != v.Kind():
		return "expected " + shown.Got(want) + ", got " + shown.Got(v), nil
	case want.Kind() == jsonv.KindString:
		return textdiff.Difference(want.Text(), v.Text())
	case want.Kind() == jsonv.KindArray || want.Kind() == jsonv.KindObject:
		changes := jsonv.Diff(want, v)
		return changesMessage(changeLines(changes), len(changes))
	}
	return "expected " + shown.Value(want, shown.InLine) + ", got " + shown.Value(v, shown.InLine), nil
}

// numberOrText returns a note about a value with the expected spelling but another
// type, which is common in CSV files and texts.
func numberOrText(want, v jsonv.Value) []string {
	switch {
	case want.Kind() == jsonv.KindNumber && v.Kind() == jsonv.KindString && v.Text() == want.Literal():
		return []string{"write " + shown.Got(v)[len("text "):] + " in quotes (in a CSV file, too), or use is-json: {const: " + want.Literal() + "}"}
	case want.Kind() == jsonv.KindString && v.Kind() == jsonv.KindNumber && want.Text() == v.Literal():
		return []string{"write " + v.Literal() + " without quotes"}
	case isBooleanText(want) && v.Kind() == jsonv.KindBool:
		return []string{"write " + want.Text() + " without quotes: the value is a boolean"}
	}
	return nil
}

// changeLines formats structural differences, one per line.
func changeLines(changes []jsonv.Change) []string {
	lines := make([]string, 0, min(len(changes), shown.MaxLines))
	for _, ch := range changes[:min(len(changes), shown.MaxLines)] {
		path := cmp.Or(display.Truncate(ch.Path, shown.InLine), "the value")
		switch ch.Kind {
		case jsonv.Added:
			lines = append(lines, path+": not expected, got "+shown.Value(ch.Got, shown.ShortKey))
		case jsonv.Removed:
			lines = append(lines, path+": missing, expected "+shown.Value(ch.Want, shown.ShortKey))
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
		return "expected " + shown.Shape(want) + ", got " + shown.Shape(v)
	}
	return "expected " + shown.Value(want, shown.ShortKey) + ", got " + shown.Value(v, shown.ShortKey)
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
