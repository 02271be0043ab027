package catalog

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// Texts that match a pattern.

// Matching returns a short text that a regular expression matches.
func Matching(pattern string) (string, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return "", errors.New("only RE2 syntax is supported")
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", errors.New("only RE2 syntax is supported")
	}
	var b strings.Builder
	if !shortest(&b, tree, 0) || !re.MatchString(b.String()) {
		return "", errors.New("no matching text was found")
	}
	return b.String(), nil
}

// shortest writes a match of a syntax tree.
func shortest(b *strings.Builder, re *syntax.Regexp, depth int) bool {
	if depth > 100 || b.Len() > 1<<16 {
		return false
	}
	switch re.Op {
	case syntax.OpNoMatch:
		return false
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		if len(re.Rune) == 0 {
			return false
		}
		b.WriteRune(pleasant(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('x')
	case syntax.OpRepeat:
		for range re.Min {
			if !shortest(b, re.Sub[0], depth+1) {
				return false
			}
		}
	case syntax.OpPlus, syntax.OpCapture:
		return shortest(b, re.Sub[0], depth+1)
	case syntax.OpConcat:
		return !slices.ContainsFunc(re.Sub, func(s *syntax.Regexp) bool { return !shortest(b, s, depth+1) })
	case syntax.OpAlternate:
		return shortest(b, re.Sub[0], depth+1)
	}
	return true // empty matches, *, ?
}

// pleasant returns a letter or digit of a class if it has one.
func pleasant(class []rune) rune {
	for _, want := range []rune{'a', 'A', '1', '0'} {
		for i := 0; i+1 < len(class); i += 2 {
			if class[i] <= want && want <= class[i+1] {
				return want
			}
		}
	}
	return class[0]
}
