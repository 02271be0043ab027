package match

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"mcptest/internal/assert/shown"
	"mcptest/internal/assert/target"
	"mcptest/internal/assert/textdiff"
	"mcptest/internal/assert/trajectory"
	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

var rowContains = Row{
	Name: "contains", Doc: "a string contains a substring, a list an element, or an object these members (deeply; others are allowed)",
	Example: `contains: rust`, Passes: `"written in rust"`, Fails: `"written in Rust"`,
	schema: anySchema, compile: compileContains(false),
}

var rowIContains = Row{
	Name: "icontains", Doc: "like contains, ignoring case in strings",
	Example: `icontains: RUST`, Passes: `"written in Rust"`, Fails: `"written in C"`,
	schema: `{"type":["string","number","boolean","null"]}`, compile: compileContains(true),
}

const nonEmptyList = `{"type":"array","minItems":1}`

var rowContainsAll = Row{
	Name: "contains-all", Aliases: []string{"contains_all"}, Doc: "contains all of these",
	Example: `contains-all: [rust, go]`, Passes: `"rust and go"`, Fails: `"rust and c"`,
	schema: nonEmptyList, compile: compileContainsMany(false, true),
}

var rowContainsAny = Row{
	Name: "contains-any", Aliases: []string{"contains_any"}, Doc: "contains at least one of these",
	Example: `contains-any: [rust, go]`, Passes: `["c", "go"]`, Fails: `["c", "golang"]`,
	schema: nonEmptyList, compile: compileContainsMany(false, false),
}

var rowIContainsAll = Row{
	Name: "icontains-all", Aliases: []string{"icontains_all"}, Doc: "contains all of these, ignoring case in strings",
	Example: `icontains-all: [Rust, GO]`, Passes: `"rust and go"`, Fails: `"rust and c"`,
	schema: nonEmptyList, compile: compileContainsMany(true, true),
}

var rowIContainsAny = Row{
	Name: "icontains-any", Aliases: []string{"icontains_any"}, Doc: "contains at least one of these, ignoring case in strings",
	Example: `icontains-any: [Rust, GO]`, Passes: `"go"`, Fails: `"c"`,
	schema: nonEmptyList, compile: compileContainsMany(true, false),
}

func compileContains(fold bool) func(*Compiler, *source.Node, string) Matcher {
	return func(c *Compiler, n *source.Node, path string) Matcher {
		if fold && !n.IsScalar() {
			c.Errorf(n, path, "use icontains-all or icontains-any for several", "expected text, got %s", shown.Node(n))
			return nil
		}
		if m := compileContainee(c, n, path, fold); m != nil {
			return contains{*m}
		}
		return nil
	}
}

func compileContainsMany(fold, all bool) func(*Compiler, *source.Node, string) Matcher {
	return func(c *Compiler, n *source.Node, path string) Matcher {
		items, ok := c.List(n, path, "values to contain")
		if !ok {
			return nil
		}
		m := containsMany{all: all}
		for i, item := range items {
			if e := compileContainee(c, item, source.PathIndex(path, i), fold); e != nil {
				m.wants = append(m.wants, *e)
			}
		}
		if len(m.wants) < len(items) {
			return nil
		}
		return m
	}
}

// containee is one value to search for.
type containee struct {
	value jsonv.Value
	text  string // the form of a scalar in texts
	fold  bool
	isKey bool // a scalar, which is searched for in texts too
	blank bool // empty, although the author did not write an empty text
}

func compileContainee(c *Compiler, n *source.Node, path string, fold bool) *containee {
	m := containee{
		value: n.JSON(),
		fold:  fold,
		isKey: n.IsScalar() && n.Kind != source.KindNull,
		text:  n.Text,
		blank: n.Blank && n.Text == "",
	}
	if n.Kind == source.KindNull && n.Text == "" {
		c.Errorf(n, path, cmp.Or(n.AfterHash(), `write "" for an empty text`), "the argument is missing")
		return nil
	}
	if fold {
		m.text = textdiff.FoldCase(m.text)
	}
	return &m
}

// in reports whether v contains m; ok is false if the kind of v cannot contain it.
func (m *containee) in(v jsonv.Value) (found, ok bool) {
	switch v.Kind() {
	case jsonv.KindString:
		if !m.isKey || m.blank {
			return false, false
		}
		text := v.Text()
		if m.fold {
			text = textdiff.FoldCase(text)
		}
		return strings.Contains(text, m.text), true
	case jsonv.KindArray:
		for _, e := range v.Elems() {
			if m.isElement(e) {
				return true, true
			}
		}
		return false, true
	case jsonv.KindObject:
		if m.value.Kind() != jsonv.KindObject {
			return false, false
		}
		return trajectory.Within(m.value, v), true
	}
	return false, false
}

// isElement reports whether a list's element is the value.
func (m *containee) isElement(e jsonv.Value) bool {
	if m.fold && e.Kind() == jsonv.KindString && m.isKey {
		return textdiff.FoldCase(e.Text()) == m.text
	}
	if m.value.Kind() == jsonv.KindObject {
		return trajectory.Within(m.value, e)
	}
	return jsonv.Equal(m.value, e)
}

// unfit returns the outcome for a value whose kind cannot contain m.
func (m *containee) unfit(v jsonv.Value) Outcome {
	if m.blank && v.Kind() == jsonv.KindString {
		return blankNeedle(v)
	}
	return unfit(m.wants(), v)
}

// blankNeedle returns the outcome for a search text that a row, a step or the
// environment left empty: every text contains it.
func blankNeedle(v jsonv.Value) Outcome {
	return Outcome{Unfit: true, Msg: "the value to look for is empty, which any text would match: got " + shown.Got(v), Expected: "a value to look for"}
}

// wants describes the kinds of values that can contain m.
func (m *containee) wants() string {
	switch {
	case m.isKey:
		return "a text or a list to look for " + shown.Value(m.value, shown.ShortKey) + " in"
	case m.value.Kind() == jsonv.KindObject:
		return "an object or a list of objects"
	}
	return "a list to look for " + shown.Value(m.value, shown.ShortKey) + " in"
}

func (m *containee) shown() string {
	if m.fold {
		return shown.Value(m.value, shown.InLine) + " (ignoring case)"
	}
	return shown.Value(m.value, shown.InLine)
}

type contains struct{ want containee }

func (m contains) Match(_ context.Context, s target.Subject, _ *Env) Outcome {
	found, ok := m.want.in(s.Value)
	switch {
	case found:
		return passed
	case m.want.isKey && messageText[s.Target] != "":
		return Outcome{Unfit: true, Msg: "a list of objects contains no text: examine " + s.Target + "[*]." + messageText[s.Target]}
	case !ok:
		o := m.want.unfit(s.Value)
		if s.Target == "refusal" && m.want.isKey {
			o.Notes = append(o.Notes, "its text is refusal.text")
		}
		if m.want.value.Kind() == jsonv.KindArray && s.Value.Kind() == jsonv.KindString {
			o.Msg = "a text contains a text, not a list: for all of them write contains-all: " + shown.Value(m.want.value, shown.InLine) + " in place of contains, for one of them contains-any; got " + shown.Got(s.Value)
		}
		return o
	case s.Value.Kind() == jsonv.KindObject:
		o := subsetOutcome(m.want.value, s.Value, nil)
		o.Expected = "contains " + m.want.shown()
		return o
	}
	return Outcome{
		Msg:      "does not contain " + m.want.shown() + ": " + shown.Got(s.Value),
		Expected: "contains " + m.want.shown(),
		Notes:    m.want.nearMiss(s.Value),
	}
}

// messageText names the text in the messages that a target lists.
var messageText = map[string]string{"notifications": "method", "requests": "method", "logs": "data", "progress": "message"}

// nearMiss returns a note if the value only differs in case or in a line break.
func (m *containee) nearMiss(v jsonv.Value) []string {
	if m.fold || !m.isKey {
		return nil
	}
	folded := containee{value: m.value, text: textdiff.FoldCase(m.text), fold: true, isKey: true}
	if found, _ := folded.in(v); found {
		return []string{"it contains it with different case: icontains ignores case"}
	}
	return extraBreak(m.text, func(t string) bool { return strings.Contains(v.Text(), t) })
}

type containsMany struct {
	wants []containee
	all   bool
}

func (m containsMany) Match(_ context.Context, s target.Subject, _ *Env) Outcome {
	var lacking []string
	lacks := 0
	var odd *containee
	for i := range m.wants {
		found, ok := m.wants[i].in(s.Value)
		switch {
		case !ok:
			odd = &m.wants[i]
		case found && !m.all:
			return passed
		case !found:
			lacks++
			if len(lacking) < shown.MaxKeys {
				lacking = append(lacking, shown.Value(m.wants[i].value, shown.ShortKey))
			}
		}
	}
	if odd != nil {
		return odd.unfit(s.Value)
	}
	if lacks == 0 {
		return passed
	}
	if !m.all {
		return Outcome{Msg: "contains none of " + display.Alternatives(lacking, "or") + ": " + shown.Got(s.Value)}
	}
	msg := "does not contain " + display.Alternatives(lacking, "or")
	if lacks < len(m.wants) {
		msg += fmt.Sprintf(" (it contains the other %d)", len(m.wants)-lacks)
	}
	return Outcome{Msg: msg + ": " + shown.Got(s.Value)}
}
