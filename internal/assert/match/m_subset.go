package match

import (
	"cmp"
	"fmt"

	"mcptest/internal/assert/shown"
	"mcptest/internal/assert/trajectory"
	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

var rowSubset = Row{
	Name: "subset", Doc: "the value contains at least this, deeply: objects may have more members, lists (compared by index) more elements",
	Example: `subset: {user: {name: Ada}, tags: [a]}`, Passes: `{"user":{"name":"Ada","id":1},"tags":["a","b"]}`, Fails: `{"user":{"id":1},"tags":["a"]}`,
	schema: anySchema, compile: compileSubset,
}

func compileSubset(c *Compiler, n *source.Node, _ string) Matcher {
	want, rows := n.JSON(), c.rows
	return matchFunc(func(v jsonv.Value) Outcome {
		if trajectory.Within(want, v) {
			return passed
		}
		return subsetOutcome(want, v, rows)
	})
}

// subsetOutcome describes what v lacks of want; rows are the matchers that an author
// may have nested in it.
func subsetOutcome(want, v jsonv.Value, rows []Row) Outcome {
	if want.Kind() != v.Kind() || want.Kind() < jsonv.KindArray {
		msg, lines := Difference(want, v)
		return Outcome{Msg: msg, Diff: lines}
	}
	d := subsetDiff{rows: rows}
	d.compare("", want, v)
	o := Outcome{Expected: "at least " + shown.Value(want, shown.Alone)}
	o.Msg, o.Diff = changesMessage(d.lines, d.n)
	if d.nested {
		o.Notes = []string{"subset compares literally: matchers can't be nested in it; write one assertion for each member, or use schema"}
	}
	return o
}

// subsetDiff collects the missing parts.
type subsetDiff struct {
	rows   []Row
	lines  []string
	n      int
	nested bool // an expected value looks like a matcher
}

func (d *subsetDiff) add(path, format string, args ...any) {
	d.n++
	if len(d.lines) < shown.MaxLines {
		path = cmp.Or(path, "the value")
		d.lines = append(d.lines, display.Truncate(path, shown.InLine)+": "+fmt.Sprintf(format, args...))
	}
}

func (d *subsetDiff) compare(path string, want, v jsonv.Value) {
	switch {
	case v.IsAbsent():
		d.add(path, "missing, expected %s", shown.Value(want, shown.ShortKey))
	case want.Kind() == jsonv.KindObject && v.Kind() == jsonv.KindObject:
		for key, w := range want.Members() {
			g, ok := v.Get(key)
			at := jsonv.JoinKey(path, key)
			if ok {
				d.compare(at, w, g)
			} else {
				d.looksNested(w)
				d.add(at, "missing, expected %s%s", shown.Value(w, shown.ShortKey), source.Parenthesis(source.DidYouMean(key, shown.SomeKeys(v))))
			}
		}
	case want.Kind() == jsonv.KindArray && v.Kind() == jsonv.KindArray:
		for i, w := range want.Elems() {
			d.compare(jsonv.JoinIndex(path, i), w, v.At(i))
		}
	case !jsonv.Equal(want, v):
		d.add(path, "%s", wantGot(want, v))
		d.looksNested(want)
	}
}

// looksNested records whether a missing value has the form of a matcher.
func (d *subsetDiff) looksNested(want jsonv.Value) {
	isSingle := want.Kind() == jsonv.KindObject && want.Len() == 1
	if isSingle && rowNamed(d.rows, want.Keys()[0]) != nil {
		d.nested = true
	}
}
