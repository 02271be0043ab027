package engine

import (
	"strings"
	"unicode/utf8"

	"mcptest/internal/base/jsonv"
)

// textRules are the keywords for strings.
type textRules struct {
	least, most int // characters; -1: no limit
	pattern     matcher
}

func (c *compiler) addTexts(n *node) *Error {
	rules := &textRules{least: count(n, "minLength"), most: count(n, "maxLength")}
	if pattern := n.value.Lookup("pattern"); pattern.Kind() == jsonv.KindString {
		re, err := c.patterns.compile(maskSurrogates(pattern.Text()))
		if err != nil {
			return badPattern(n.place.with("pattern"), pattern.Text(), err)
		}
		rules.pattern = re
	}
	n.texts = rules
	return nil
}

func (e *evaluation) checkText(n *node, v jsonv.Value) bool {
	rules := n.texts
	ok := true
	if rules.least >= 0 || rules.most >= 0 {
		length := v.Len()
		if rules.least >= 0 && length < rules.least {
			ok = e.failed(n, "minLength", Failure{Limit: rules.least, Count: length})
		}
		if rules.most >= 0 && length > rules.most {
			ok = e.failed(n, "maxLength", Failure{Limit: rules.most, Count: length})
		}
	}
	if rules.pattern != nil && !e.matches(rules.pattern, v.Text()) {
		ok = e.failed(n, "pattern", Failure{})
	}
	return ok
}

// matches reports whether a pattern matches. A match that takes too long ends the
// evaluation.
func (e *evaluation) matches(re matcher, text string) bool {
	if e.err != nil {
		return false
	}
	ok, err := re.match(maskSurrogates(text))
	if err != nil {
		e.err = err
	}
	return ok
}

// surrogateMask moves lone surrogates into a private use plane, where they stay
// distinct and count as one character each.
const surrogateMask = 0xF0000 - 0xD800

// maskSurrogates makes a text with lone surrogates one that patterns understand.
func maskSurrogates(s string) string {
	if strings.IndexByte(s, 0xED) < 0 || utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if r, ok := jsonv.SurrogateAt(s[i:]); ok {
			b.WriteRune(r + surrogateMask)
			i += 3
			continue
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}
