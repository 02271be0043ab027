package expect

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"mcptest/internal/assert/match"
	"mcptest/internal/assert/shown"
	"mcptest/internal/assert/target"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

// Item is one entry of an expect list: an assertion or an assert-set.
type Item struct {
	Pos    source.Pos
	Path   string // position in the document: tools[0].expect[1]
	Name   string // "" when it has none
	Weight float64
	// Exactly one of these is set.
	Assertion *Assertion
	Set       *Set
}

// Assertion is a target and the matcher of its value.
type Assertion struct {
	Target  *target.Target
	Matcher *match.Named
	// Message is the author's message for a failure.
	Message string
}

// Set is a group of assertions that counts as one item.
type Set struct {
	Threshold float64 // of the weighted pass-fraction; default 1
	Items     []Item  // assertions; sets do not nest
}

// Gate is a limit on the call's duration; it is not part of any score.
type Gate struct {
	Pos   source.Pos
	MaxMS float64
}

// Expect is a compiled `expect:` value.
type Expect struct {
	Items       []Item
	MaxDuration *Gate
}

// CompileExpect compiles an `expect:` value: a list of assertions and assert-sets, or
// {assertions, max_duration_ms}. Mistakes are added to d. A nil node has no
// expectations.
func CompileExpect(n *source.Node, path string, d *source.Decoder) Expect {
	return Compiler{}.Expect(n, path, d)
}

// Expect is [CompileExpect] with the compiler's options.
func (o Compiler) Expect(n *source.Node, path string, d *source.Decoder) Expect {
	c := newCompiler(o, d)
	var e Expect
	switch {
	case n == nil || n.Kind == source.KindNull && n.Text == "":
	case n.Kind == source.KindList:
		e.Items = c.items(n, path, false)
	case n.Kind == source.KindMap:
		e = c.longForm(n, path)
	default:
		hint := ""
		if text, ok := strings.CutPrefix(shown.Node(n), "text "); ok {
			hint = "write [{target: text, matcher: {contains: " + text + "}}]"
		}
		c.Errorf(n, path, hint, "expected a list of assertions, or {assertions, max_duration_ms}, got %s", shown.Node(n))
	}
	return e
}

func (c *compiler) longForm(n *source.Node, path string) Expect {
	var e Expect
	if n.Get("target") != nil || n.Get("matcher") != nil || n.Get("assert-set") != nil {
		c.Errorf(n, path, "put a hyphen before it: - target: …", "expected a list of assertions, got a single one")
		return e
	}
	c.Keys(n, path, "a list or a map", []string{"assertions", "max_duration_ms"}, nil, func(key, at string, _, v *source.Node) bool {
		if key == "assertions" {
			if v.Kind != source.KindList {
				c.Errorf(v, at, "", "expected a list of assertions, got %s", shown.Node(v))
				return false
			}
			e.Items = c.items(v, at, false)
			return true
		}
		if ms, ok := c.Number(inMilliseconds(nil, v), at); ok && ms <= 0 {
			c.Errorf(v, at, "", "must be greater than 0 milliseconds, got %s", v.Text)
		} else if ok {
			e.MaxDuration = &Gate{Pos: v.Pos, MaxMS: ms}
		}
		return true
	})
	return e
}

// items compiles the entries of a list.
func (c *compiler) items(n *source.Node, path string, inSet bool) []Item {
	out := make([]Item, 0, len(n.Items))
	for i, entry := range n.Items {
		at := source.PathIndex(path, i)
		set := setOf(entry)
		var item *Item
		switch {
		case i+1 < len(n.Items) && beginsAssertion(entry) && continuesAssertion(n.Items[i+1]):
			c.Errorf(n.Items[i+1], source.PathIndex(path, i+1), `write it without the hyphen, below target:`, "this hyphen begins a second assertion: target and matcher are keys of one")
			return nil
		case set != nil && inSet:
			c.Errorf(entry, at, "move its assertions into this set, or make it a separate set in expect", "assert-sets do not nest")
		case set != nil:
			item = c.set(entry, at)
		default:
			item = c.assertion(entry, at)
		}
		if item != nil {
			item.Pos, item.Path = entry.Pos, at
			out = append(out, *item)
		}
	}
	return out
}

// setKeys are the spellings of the key that marks an assert-set.
var setKeys = [...]string{"assert-set", "assert_set"}

// setOf returns the set's key if an entry is an assert-set.
func setOf(entry *source.Node) *source.Field {
	if entry.Kind != source.KindMap {
		return nil
	}
	for i, f := range entry.Fields {
		if slices.Contains(setKeys[:], f.Key.Text) {
			return &entry.Fields[i]
		}
	}
	return nil
}

// assertion compiles {target, matcher, name, weight, message}.
func (c *compiler) assertion(n *source.Node, path string) *Item {
	item, a := Item{Weight: 1}, Assertion{}
	if at := n.Get("target"); at != nil && at.Kind == source.KindString {
		a.Target, _ = target.Parse(at.Text)
	}
	if !c.Keys(n, path, "an assertion: a map with target and matcher", []string{"target", "matcher", "name", "weight", "message"},
		[]string{"target", "matcher"}, func(key, at string, _, v *source.Node) (ok bool) {
			switch key {
			case "target":
				a.Target = c.target(v, at)
				ok = a.Target != nil
			case "matcher":
				a.Matcher = c.matcher(a.Target, inMilliseconds(n.Get("target"), v), at)
				ok = a.Matcher != nil
			case "name":
				item.Name, ok = c.name(v, at)
			case "weight":
				item.Weight, ok = c.weight(v, at)
			case "message":
				a.Message, ok = c.Text(v, at, "text")
			}
			return ok
		}) {
		return nil
	}
	item.Assertion = &a
	return &item
}

// inMilliseconds returns a value with each duration in it, such as 500ms, as a number
// of milliseconds, if the target is one; no target stands for max_duration_ms.
func inMilliseconds(target, n *source.Node) *source.Node {
	if target != nil && target.Text != "duration_ms" {
		return n
	}
	return n.MapScalars(func(sc *source.Node) *source.Node {
		d, err := source.ParseDuration(sc.Text)
		if err != nil || sc.Kind != source.KindString {
			return sc
		}
		out := *sc
		out.Kind, out.Text = source.KindFloat, strconv.FormatFloat(d.Seconds()*1000, 'f', -1, 64)
		return &out
	})
}

// Exactly returns a copy of the assertion with another value, or nil if the matcher
// is not exact.
func (a *Assertion) Exactly(want jsonv.Value) *Assertion {
	k := want.Kind()
	if a.Target.IsText() && (k == jsonv.KindNumber || k == jsonv.KindBool) {
		want = jsonv.String(want.String())
	}
	matcher, ok := a.Matcher.Exactly(want)
	if !ok {
		return nil
	}
	made := &struct { // one allocation
		Assertion
		match.Named
	}{*a, matcher}
	made.Assertion.Matcher = &made.Named
	return &made.Assertion
}

// WithMatcher returns a copy of an assertion with the matcher in n, or nil after a
// mistake, which is added to d. path is that of the assertion.
func (o Compiler) WithMatcher(a *Assertion, n *source.Node, path string, d *source.Decoder) *Assertion {
	target := &source.Node{Text: a.Target.String()}
	k := newCompiler(o, d).matcher(a.Target, inMilliseconds(target, n), source.PathKey(path, "matcher"))
	if k == nil {
		return nil
	}
	out := *a
	out.Matcher = k
	return &out
}

// set compiles {assert-set: {name, threshold, weight, assertions}}.
func (c *compiler) set(entry *source.Node, path string) *Item {
	f := setOf(entry)
	for _, other := range entry.Fields {
		if other.Key != f.Key {
			c.Errorf(other.Key, path, "name, threshold, weight and assertions belong inside "+f.Key.Text, "unknown key %s next to %s", shown.Key(other.Key.Text), f.Key.Text)
		}
	}
	at := source.PathKey(path, f.Key.Text)
	item := Item{Weight: 1}
	s := Set{Threshold: 1}
	if !c.Keys(f.Value, at, "a map with assertions", []string{"name", "threshold", "weight", "assertions"},
		[]string{"assertions"}, func(key, at string, _, v *source.Node) (ok bool) {
			switch key {
			case "name":
				item.Name, ok = c.name(v, at)
			case "threshold":
				s.Threshold, ok = c.share(v, at)
			case "weight":
				item.Weight, ok = c.weight(v, at)
			case "assertions":
				if _, ok = c.List(v, at, "assertions"); ok {
					s.Items = c.items(v, at, true)
				}
			}
			return ok
		}) {
		return nil
	}
	if len(s.Items) == len(f.Value.Get("assertions").Items) {
		c.checkWeights(s.Items, f.Value.Get("assertions"), source.PathKey(at, "assertions"), "set")
	}
	item.Set = &s
	return &item
}

// checkWeights reports weights of a scored level that cannot form a score.
func (c *compiler) checkWeights(items []Item, n *source.Node, path, level string) {
	total := 0.0
	for i := range items {
		total += items[i].Weight
	}
	switch {
	case len(items) == 0:
	case total == 0:
		c.Errorf(n, path, "give one of its items a weight above 0", "every weight of this %s is 0: the score is undefined", level)
	case math.IsInf(total, 0):
		c.Errorf(n, path, "only the ratio of weights counts: use smaller ones", "the weights of this %s add up to more than a number can hold", level)
	}
}

// beginsAssertion reports whether an entry has a target and no matcher.
func beginsAssertion(n *source.Node) bool {
	return n.Get("target") != nil && n.Get("matcher") == nil
}

// continuesAssertion reports whether an entry has a matcher and no target.
func continuesAssertion(n *source.Node) bool {
	return n.Get("target") == nil && n.Get("matcher") != nil
}
