package textdiff_test

import (
	"testing"

	"pgregory.net/rapid"

	"mcptest/internal/assert/textdiff"
)

func TestEditDistanceProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		letters := rapid.SliceOfN(rapid.RuneFrom([]rune("abä")), 0, 9)
		a, b := letters.Draw(rt, "a"), letters.Draw(rt, "b")
		want := plainDistance(a, b)
		for limit := range 11 {
			got, ok := textdiff.EditDistance(a, b, limit)
			if ok != (want <= limit) || ok && got != want {
				rt.Fatalf("%q %q limit %d: %d %v, want %d", string(a), string(b), limit, got, ok, want)
			}
		}
	})
}

// plainDistance implements the definition, recursively.
func plainDistance(a, b []rune) int {
	memo := map[[2]int]int{}
	var at func(i, j int) int
	at = func(i, j int) int {
		if i == len(a) || j == len(b) {
			return len(a) - i + len(b) - j
		}
		if d, ok := memo[[2]int{i, j}]; ok {
			return d
		}
		d := at(i+1, j+1)
		if a[i] != b[j] {
			d = 1 + min(d, at(i+1, j), at(i, j+1))
		}
		memo[[2]int{i, j}] = d
		return d
	}
	return at(0, 0)
}
