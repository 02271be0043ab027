package source

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxNearest limits the length of compared words, because the cost of a comparison is
// quadratic.
const maxNearest = 64

// FindNearest returns the candidate that word is most likely a misspelling of, or "" if
// none is similar: one edit for words of up to four letters, two up to eight, three
// beyond. An edit inserts, deletes or replaces a letter or swaps two adjacent letters
// (the optimal string alignment distance); a different case of the whole word always
// counts as similar. The first of equally similar candidates is returned.
func FindNearest(word string, candidates []string) string {
	if word == "" || utf8.RuneCountInString(word) > maxNearest {
		return ""
	}
	if latin := Latin(word); latin != word && slices.Contains(candidates, latin) {
		return latin
	}
	from := []rune(word)
	best, bestDistance := "", min(3, (len(from)+3)/4)+1 // an edit for each four letters
	for _, c := range candidates {
		if c == "" || len(c) > 4*maxNearest {
			continue
		}
		to := []rune(c)
		if max(len(to)-len(from), len(from)-len(to)) >= bestDistance {
			continue
		}
		d := measureDistance(from, to, false)
		if folded := measureDistance(from, to, true); folded == 0 && d > 0 {
			d = min(d, 1)
		} else {
			d = min(d, folded+1)
		}
		// Most of a short word must remain unchanged.
		if d < bestDistance && d < max(len(from), len(to)) {
			best, bestDistance = c, d
		}
	}
	return best
}

// measureDistance counts edits between a and b over three rows of the usual table.
func measureDistance(a, b []rune, fold bool) int {
	before := make([]int, len(b)+1)
	prev := make([]int, len(b)+1)
	cur := make([]int, len(b)+1)
	same := func(x, y rune) bool { return x == y || fold && lower(x) == lower(y) }
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if same(a[i-1], b[j-1]) {
				change = 0
			}
			d := min(prev[j]+1, cur[j-1]+1, prev[j-1]+change)
			if i > 1 && j > 1 && same(a[i-1], b[j-2]) && same(a[i-2], b[j-1]) {
				d = min(d, before[j-2]+1)
			}
			cur[j] = d
		}
		before, prev, cur = prev, cur, before
	}
	return prev[len(b)]
}

// lower folds common differences of keys: ASCII case, and _ for -.
func lower(r rune) rune {
	switch {
	case 'A' <= r && r <= 'Z':
		return r + 'a' - 'A'
	case r == '_':
		return '-'
	}
	return r
}

// DidYouMean returns a hint with the most similar candidate, or "".
func DidYouMean(word string, candidates []string) string {
	return Suggest(FindNearest(word, candidates))
}

// Known returns the hint for an unknown name: the most similar name, or all names.
func Known(word string, names []string) string {
	if hint := DidYouMean(word, names); hint != "" || len(names) == 0 {
		return hint
	}
	return "known: " + strings.Join(names, ", ")
}

// Suggest returns the hint for a name, or "" if it is empty.
func Suggest(near string) string {
	if near == "" {
		return ""
	}
	return "did you mean " + strconv.Quote(near) + "?"
}

// Parenthesis formats a hint in parentheses to follow a message, or returns "".
func Parenthesis(hint string) string {
	if hint == "" {
		return ""
	}
	return " (" + hint + ")"
}
