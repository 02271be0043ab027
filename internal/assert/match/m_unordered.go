package match

import (
	"fmt"

	"mcptest/internal/assert/shown"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
	"mcptest/internal/base/source"
)

var rowUnordered = Row{
	Name: "unordered", Doc: "a list has exactly these elements, in any order",
	Example: `unordered: [b, a, a]`, Passes: `["a", "b", "a"]`, Fails: `["a", "b", "b"]`,
	schema: `{"type":"array"}`, compile: compileUnordered,
}

func compileUnordered(c *Compiler, n *source.Node, path string) Matcher {
	if n.Kind != source.KindList {
		c.Errorf(n, path, "", "expected a list, got %s", shown.Node(n))
		return nil
	}
	want := n.JSON()
	return matchFunc(func(v jsonv.Value) Outcome {
		if v.Kind() != jsonv.KindArray {
			return unfit("a list", v)
		}
		lacking, extra := multisetDiff(want, v)
		if len(lacking) == 0 && len(extra) == 0 {
			return passed
		}
		return unorderedOutcome(want, lacking, extra)
	})
}

func unorderedOutcome(want jsonv.Value, lacking, extra []jsonv.Value) Outcome {
	lines := lists.Map(lacking[:min(len(lacking), shown.MaxLines)], func(v jsonv.Value) string {
		return "missing: " + shown.Value(v, shown.InLine)
	})
	for _, v := range extra[:min(len(extra), shown.MaxLines)] {
		lines = append(lines, "not expected: "+shown.Value(v, shown.InLine))
	}
	n := len(lacking) + len(extra)
	o := Outcome{Expected: "in any order " + shown.Value(want, shown.Alone), Msg: lines[0]}
	if n > 1 {
		o.Msg = fmt.Sprintf("%d missing, %d not expected, the first: %s", len(lacking), len(extra), lines[0])
		o.Diff = lines
	}
	return o
}

// multisetDiff returns the elements of want without a partner in v, and those of v
// without one in want. Equality is transitive, so every maximal pairing of equal
// elements has the same size; hashes only save comparisons.
func multisetDiff(want, v jsonv.Value) (lacking, extra []jsonv.Value) {
	buckets := make(map[uint64][]jsonv.Value, v.Len())
	h := jsonv.NewHasher()
	for _, e := range v.Elems() {
		k := h.Hash(e)
		buckets[k] = append(buckets[k], e)
	}
	for _, w := range want.Elems() {
		if k := h.Hash(w); !takeEqual(buckets, k, w) {
			lacking = append(lacking, w)
		}
	}
	if want.Len()-len(lacking) == v.Len() {
		return lacking, nil
	}
	// The buckets have lost the order of the rest; restore it from v.
	for _, e := range v.Elems() {
		if takeEqual(buckets, h.Hash(e), e) {
			extra = append(extra, e)
		}
	}
	return lacking, extra
}

// takeEqual removes one element equal to w from a bucket.
func takeEqual(buckets map[uint64][]jsonv.Value, k uint64, w jsonv.Value) bool {
	bucket := buckets[k]
	for i := range bucket {
		if jsonv.Equal(bucket[i], w) {
			last := len(bucket) - 1
			bucket[i] = bucket[last]
			buckets[k] = bucket[:last]
			return true
		}
	}
	return false
}
