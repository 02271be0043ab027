package expect_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mcptest/internal/base/jsonv"
)

// TestUnorderedProperty: a shuffled list passes; with one element changed to
// one that occurs less often it does not.
func TestUnorderedProperty(t *testing.T) {
	element := rapid.SampledFrom([]string{`1`, `1.0`, `2`, `"a"`, `{"a":1,"b":2}`, `{"b":2.0,"a":1}`, `[1,2]`, `[2,1]`, `null`, `{"a":{"a":0}}`, `-0`, `0`})
	rapid.Check(t, func(rt *rapid.T) {
		list := rapid.SliceOfN(element, 0, 8).Draw(rt, "list")
		other := rapid.SliceOfN(element, 0, 8).Draw(rt, "other")
		shuffled := slices.Clone(list)
		rand.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		matcher := "unordered: [" + strings.Join(list, ",") + "]"
		if got := judge(t, matcher, "["+strings.Join(shuffled, ",")+"]"); !got.Pass {
			rt.Fatalf("%s: %s", matcher, got.Message)
		}
		if got := judge(t, matcher, "["+strings.Join(other, ",")+"]"); got.Pass != sameMultiset(t, list, other) {
			rt.Fatalf("%s of %v: pass %v", matcher, other, got.Pass)
		}
	})
}

// sameMultiset compares lists by trying every pairing.
func sameMultiset(t *testing.T, a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	if len(a) == 0 {
		return true
	}
	for i := range b {
		if jsonv.Equal(value(t, a[0]), value(t, b[i])) && sameMultiset(t, a[1:], slices.Delete(slices.Clone(b), i, i+1)) {
			return true
		}
	}
	return false
}
