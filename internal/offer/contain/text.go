package contain

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"mcptest/internal/base/jsonv"
)

// Limits of the constructed texts.
const (
	maxWords  = 200
	maxLength = 20_000
)

// text constructs a string.
func (b *branch) text() answer {
	lo, hi := b.limits(opMinLength, opMaxLength)
	if lo > hi {
		return answer{}
	}
	if lo > maxLength {
		return answer{st: unknown}
	}
	var words []string
	complete := false
	patterns := b.of(opPattern, false)
	for _, a := range patterns {
		more, all := wordsOf(a.text, lo)
		words, complete = append(words, more...), complete || all
	}
	if len(patterns) == 0 {
		words = append(words, plainWords(lo, hi, len(b.excluded()))...)
		complete = hi == 0
	}
	best := answer{}
	for _, w := range words {
		best = better(best, b.fitsText(w, lo, hi))
		if best.st == found {
			return best
		}
	}
	if best.st == maybe || complete {
		return best
	}
	return answer{st: unknown}
}

func (b *branch) fitsText(w string, lo, hi int) answer {
	if n := utf8.RuneCountInString(w); n < lo || n > hi || contains(b.excluded(), jsonv.String(w)) {
		return answer{}
	}
	for _, l := range b.atoms {
		if l.a.op == opPattern && l.a.re.MatchString(w) == l.neg {
			return answer{}
		}
	}
	return answer{found, jsonv.String(w)}
}

// plainWords returns texts of allowed lengths, more than are excluded.
func plainWords(lo, hi, excluded int) []string {
	var out []string
	for _, w := range []string{"text", "a", "", "b", "0", "A", "-", " ", "a b", "!", "é"} {
		if pad := lo - utf8.RuneCountInString(w); pad > 0 {
			w += strings.Repeat("a", pad)
		}
		out = append(out, w)
	}
	if hi < 1 {
		return out
	}
	for i := range excluded + 1 {
		// One more text than there are excluded ones.
		out = append(out, strings.Repeat("a", max(lo-1, 0))+string(rune('一'+i%20_000)))
	}
	if hi < 1<<20 && hi > lo {
		out = append(out, strings.Repeat("a", min(hi, maxLength)))
	}
	return out
}

// wordsOf lists texts that a pattern matches, with repetitions for a minimum length,
// and reports whether the list is complete.
func wordsOf(pattern string, length int) (words []string, complete bool) {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, false
	}
	anchored := false
	if re.Op == syntax.OpConcat && len(re.Sub) >= 2 {
		first, last := re.Sub[0], re.Sub[len(re.Sub)-1]
		anchored = first.Op == syntax.OpBeginText && last.Op == syntax.OpEndText
		if anchored {
			re = &syntax.Regexp{Op: syntax.OpConcat, Sub: re.Sub[1 : len(re.Sub)-1]}
		}
	}
	words, complete = language(re, length)
	if pad := strings.Repeat("a", length); !anchored && pad != "" {
		for _, w := range slices.Clone(words) {
			words = append(words, w+pad)
		}
	}
	return words, complete && anchored
}

// language lists texts of a part of a pattern.
func language(re *syntax.Regexp, length int) (words []string, complete bool) {
	switch re.Op {
	case syntax.OpNoMatch:
		return nil, true
	case syntax.OpEmptyMatch:
		return []string{""}, true
	case syntax.OpLiteral:
		return []string{string(re.Rune)}, re.Flags&syntax.FoldCase == 0
	case syntax.OpCharClass:
		return classWords(re.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return []string{"a", "0", "-", " ", "/", "A"}, false
	case syntax.OpCapture:
		return language(re.Sub[0], length)
	case syntax.OpQuest:
		words, complete = language(re.Sub[0], length)
		return distinct(append(words, "")), complete
	case syntax.OpStar:
		return repeated(re.Sub[0], 0, -1, length)
	case syntax.OpPlus:
		return repeated(re.Sub[0], 1, -1, length)
	case syntax.OpRepeat:
		return repeated(re.Sub[0], re.Min, re.Max, length)
	case syntax.OpConcat:
		words, complete = []string{""}, true
		for _, sub := range re.Sub {
			next, all := language(sub, length)
			var full bool
			words, full = product(words, next)
			complete = complete && all && full
		}
		return words, complete
	case syntax.OpAlternate:
		complete = true
		for _, sub := range re.Sub {
			next, all := language(sub, length)
			words, complete = append(words, next...), complete && all
		}
		words = distinct(words)
		if len(words) > maxWords {
			return words[:maxWords], false
		}
		return words, complete
	}
	return []string{""}, false // anchors and boundaries within
}

// classWords lists members of a character class; all members of a small one.
func classWords(ranges []rune) (words []string, complete bool) {
	complete = true
	for i := 0; i+1 < len(ranges); i += 2 {
		lo, hi := ranges[i], ranges[i+1]
		if hi-lo > 12 {
			complete = false
			for _, r := range []rune{'a', '0', 'A', lo, hi} {
				if r >= lo && r <= hi && (unicode.IsPrint(r) || r == lo) {
					words = append(words, string(r))
				}
			}
			continue
		}
		for r := lo; r <= hi; r++ {
			words = append(words, string(r))
		}
	}
	if len(words) > maxWords {
		return words[:maxWords], false
	}
	return distinct(words), complete
}

// repeated lists repetitions: the minimum, one more, and as many as a minimum length
// requires.
func repeated(sub *syntax.Regexp, least, most, length int) (words []string, complete bool) {
	part, all := language(sub, 0)
	counts := []int{least, least + 1, min(max(length, least), maxLength)}
	if most >= 0 {
		counts = append(counts, most)
	}
	slices.Sort(counts)
	complete = all && most >= 0 && most <= least+1
	for _, n := range slices.Compact(counts) {
		if most >= 0 && n > most || n > maxLength {
			continue
		}
		power := []string{""}
		for range n {
			var full bool
			if n <= 4 {
				power, full = product(power, part)
			} else {
				power, full = product(power, part[:min(len(part), 1)])
			}
			complete = complete && full && n <= 4
		}
		words = append(words, power...)
	}
	return distinct(words), complete
}

func product(a, b []string) (out []string, full bool) {
	for _, x := range a {
		for _, y := range b {
			if len(out) >= maxWords {
				return out, false
			}
			out = append(out, x+y)
		}
	}
	return out, true
}

func distinct(words []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(words, func(w string) bool {
		had := seen[w]
		seen[w] = true
		return had
	})
}
