package engine

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of what is derived from a pattern.
const (
	maxLiterals = 128 // alternatives, each of which costs a search
	minLiteral  = 3   // bytes; shorter ones occur in most texts
)

// findLiterals returns lists of texts. Every match of a pattern contains at least one text of
// each list. Where a text lacks all of a list, it need not be matched: searching for a few words
// takes a twentieth of the time (check --only security, a description of 1 MB: 4.7 s before).
func findLiterals(pattern string) (all [][]string) {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil
	}
	n := deriveNeed(parsed)
	for _, list := range append(n.some, n.whole) {
		if isUseful(list) {
			all = append(all, dropLonger(list))
		}
	}
	return all
}

// dropLonger returns the texts that contain no other one.
func dropLonger(texts []string) (kept []string) {
	byLength := slices.SortedFunc(slices.Values(texts), func(a, b string) int { return len(a) - len(b) })
	for _, text := range byLength {
		if !containsAny(text, kept) {
			kept = append(kept, text)
		}
	}
	return kept
}

// A need is what is known of the matches of a part of a pattern.
type need struct {
	whole []string   // all texts that the part matches; nil: too many, or unknown
	some  [][]string // each match contains one text of each of these lists
}

// findRarest returns the useful list whose shortest text is longest, as that occurs in the fewest
// texts; nil if there is none.
func (n need) findRarest() (rarest []string) {
	for _, list := range append(n.some, n.whole) {
		if isUseful(list) && measureShortest(list) > measureShortest(rarest) {
			rarest = list
		}
	}
	return rarest
}

// keepLists returns what is known of a part that is matched at least once.
func (n need) keepLists() need {
	if isUseful(n.whole) {
		return need{some: append(n.some, n.whole)}
	}
	return need{some: n.some}
}

// deriveNeed returns what is known of a part of a pattern.
func deriveNeed(re *syntax.Regexp) need {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase != 0 || slices.Contains(re.Rune, utf8.RuneError) { // which matches any wrong byte
			return need{}
		}
		return need{whole: []string{string(re.Rune)}}
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return need{whole: []string{""}}
	case syntax.OpCharClass:
		return need{whole: listClass(re.Rune)}
	case syntax.OpCapture:
		return deriveNeed(re.Sub[0])
	case syntax.OpPlus:
		return deriveNeed(re.Sub[0]).keepLists()
	case syntax.OpRepeat:
		if re.Min > 0 {
			return deriveNeed(re.Sub[0]).keepLists()
		}
	case syntax.OpQuest:
		if sub := deriveNeed(re.Sub[0]); sub.whole != nil {
			return need{whole: append([]string{""}, sub.whole...)}
		}
	case syntax.OpAlternate:
		return deriveAlternatives(re.Sub)
	case syntax.OpConcat:
		return deriveSequence(re.Sub)
	}
	return need{}
}

// listClass returns the characters of a class, given as ranges, if there are few.
func listClass(ranges []rune) (all []string) {
	const few = 4
	for i := 0; i+1 < len(ranges); i += 2 {
		first, last := ranges[i], ranges[i+1]
		if last-first >= few || len(all) >= few || first <= utf8.RuneError && utf8.RuneError <= last {
			return nil
		}
		for r := first; r <= last; r++ {
			all = append(all, string(r))
		}
	}
	return all
}

// deriveAlternatives returns what is known if one of the parts matches.
func deriveAlternatives(parts []*syntax.Regexp) need {
	whole, some := []string{}, []string{}
	for _, part := range parts {
		n := deriveNeed(part)
		whole = joinLists(whole, n.whole)
		some = joinLists(some, n.findRarest())
	}
	if whole != nil || !isUseful(some) {
		return need{whole: whole}
	}
	return need{some: [][]string{some}}
}

// joinLists returns the texts of both lists; nil if one is unknown, or there are too many.
func joinLists(a, b []string) []string {
	if a == nil || b == nil || len(a)+len(b) > maxLiterals {
		return nil
	}
	return append(a, b...)
}

// deriveSequence returns what is known if the parts match one after the other.
func deriveSequence(parts []*syntax.Regexp) need {
	var some [][]string
	run, isWhole := []string{""}, true // what the latest parts match together
	for _, part := range parts {
		n := deriveNeed(part)
		some = append(some, n.some...)
		if joined := joinEach(run, n.whole); joined != nil {
			run = joined
			continue
		}
		isWhole = false
		some = append(some, run)
		run = n.whole
		if run == nil {
			run = []string{""}
		}
	}
	if isWhole {
		return need{whole: run}
	}
	return need{some: append(some, run)}
}

// joinEach returns each first text followed by each second one; nil if they are unknown or too
// many.
func joinEach(first, second []string) (joined []string) {
	if second == nil || len(first)*len(second) > maxLiterals {
		return nil
	}
	for _, a := range first {
		for _, b := range second {
			joined = append(joined, a+b)
		}
	}
	return joined
}

// isUseful reports whether few texts contain one of a list.
func isUseful(list []string) bool { return measureShortest(list) >= minLiteral }

// measureShortest returns the length of the shortest text, 0 if there is none.
func measureShortest(texts []string) int {
	if len(texts) == 0 {
		return 0
	}
	return len(slices.MinFunc(texts, func(a, b string) int { return len(a) - len(b) }))
}

// containsAny reports whether a text contains one of some literals.
func containsAny(text string, literals []string) bool {
	return slices.ContainsFunc(literals, func(literal string) bool { return strings.Contains(text, literal) })
}
