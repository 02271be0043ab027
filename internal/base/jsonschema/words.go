package jsonschema

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

// Limits of the constructed texts.
const (
	maxWords    = 200
	maxRepeated = 20_000
)

// MakeMatching returns a short and plain text that a pattern matches.
func MakeMatching(pattern string) (string, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return "", errors.New("only RE2 syntax is supported")
	}
	tree, _ := syntax.Parse(pattern, syntax.Perl) // as Compile does
	words, _ := speaker{plain: true}.listWords(tree)
	if len(words) == 0 || !re.MatchString(words[0]) {
		return "", errors.New("no matching text was found")
	}
	return words[0], nil
}

// ListWords lists texts that a pattern matches, with repetitions for a minimum length,
// and reports whether the list is complete.
func ListWords(pattern string, length int) (words []string, complete bool) {
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
	words, complete = speaker{length: length}.listWords(re)
	pad := strings.Repeat("a", length)
	if !anchored && pad != "" {
		for _, w := range slices.Clone(words) {
			words = append(words, w+pad)
		}
	}
	return words, complete && anchored
}

// speaker lists texts of the language of a pattern.
type speaker struct {
	length int  // that repetitions try to reach
	plain  bool // one text is enough: the first choice everywhere, in letters and digits
}

// listWords lists texts of a part of a pattern.
func (s speaker) listWords(re *syntax.Regexp) (words []string, complete bool) {
	switch re.Op {
	case syntax.OpNoMatch:
		return nil, true
	case syntax.OpEmptyMatch:
		return []string{""}, true
	case syntax.OpLiteral:
		return []string{string(re.Rune)}, re.Flags&syntax.FoldCase == 0
	case syntax.OpCharClass:
		return s.listClass(re.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		if s.plain {
			return []string{"x"}, false
		}
		return []string{"a", "0", "-", " ", "/", "A"}, false
	case syntax.OpCapture:
		return s.listWords(re.Sub[0])
	case syntax.OpQuest:
		if s.plain {
			return []string{""}, false
		}
		words, complete = s.listWords(re.Sub[0])
		return removeDuplicates(append(words, "")), complete
	case syntax.OpStar:
		return s.repeatWords(re.Sub[0], 0, -1)
	case syntax.OpPlus:
		return s.repeatWords(re.Sub[0], 1, -1)
	case syntax.OpRepeat:
		return s.repeatWords(re.Sub[0], re.Min, re.Max)
	case syntax.OpConcat:
		words, complete = []string{""}, true
		for _, sub := range re.Sub {
			next, all := s.listWords(sub)
			var full bool
			words, full = multiply(words, next)
			complete = complete && all && full
		}
		return words, complete
	case syntax.OpAlternate:
		complete = true
		for _, sub := range re.Sub {
			next, all := s.listWords(sub)
			words, complete = append(words, next...), complete && all
		}
		words = removeDuplicates(words)
		if s.plain {
			return words[:min(len(words), 1)], false
		}
		if len(words) > maxWords {
			return words[:maxWords], false
		}
		return words, complete
	}
	return []string{""}, false // anchors and boundaries within
}

// listClass lists members of a character class; all members of a small one.
func (s speaker) listClass(ranges []rune) (words []string, complete bool) {
	if s.plain && len(ranges) > 0 {
		return []string{choosePleasant(ranges)}, false
	}
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
	return removeDuplicates(words), complete
}

// repeatWords lists repetitions: the minimum, one more, and as many as a minimum length
// requires.
func (s speaker) repeatWords(sub *syntax.Regexp, least, most int) (words []string, complete bool) {
	part, all := speaker{plain: s.plain}.listWords(sub)
	counts := []int{least, least + 1, min(max(s.length, least), maxRepeated)}
	if most >= 0 {
		counts = append(counts, most)
	}
	if s.plain {
		counts = counts[:1]
	}
	slices.Sort(counts)
	complete = all && most >= 0 && most <= least+1
	for _, n := range slices.Compact(counts) {
		if most >= 0 && n > most || n > maxRepeated {
			continue
		}
		power := []string{""}
		for range n {
			var full bool
			if n <= 4 {
				power, full = multiply(power, part)
			} else {
				power, full = multiply(power, part[:min(len(part), 1)])
			}
			complete = complete && full && n <= 4
		}
		words = append(words, power...)
	}
	return removeDuplicates(words), complete
}

func multiply(a, b []string) (out []string, full bool) {
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

func removeDuplicates(words []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(words, func(w string) bool {
		had := seen[w]
		seen[w] = true
		return had
	})
}

// choosePleasant returns a letter or digit of a class if it has one.
func choosePleasant(class []rune) string {
	for _, want := range []rune{'a', 'A', '1', '0'} {
		for i := 0; i+1 < len(class); i += 2 {
			if class[i] <= want && want <= class[i+1] {
				return string(want)
			}
		}
	}
	return string(class[0])
}
