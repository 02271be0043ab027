package evidence

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"mcptest/internal/jsonv"
)

// Refused reports whether an answer is a failure.
func Refused(answer jsonv.Value) bool {
	s := answer.Lookup("success")
	return s.Kind() == jsonv.KindBool && !s.Bool()
}

// Succeeded reports whether an answer is a success.
func Succeeded(answer jsonv.Value) bool {
	return answer.Lookup("success").Bool()
}

// Message returns the message of a failure; a missing one is an empty text.
func Message(answer jsonv.Value) jsonv.Value {
	m := answer.Lookup("error", "message")
	if k := m.Kind(); k == jsonv.KindAbsent || k == jsonv.KindNull {
		return jsonv.String("")
	}
	return m
}

// Names reports whether a text contains a name as a whole word.
func Names(s, name string) bool {
	if name == "" {
		return false
	}
	for from := 0; ; {
		i := strings.Index(s[from:], name)
		if i < 0 {
			return false
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(s[:i])
		after, _ := utf8.DecodeRuneInString(s[i+len(name):])
		if !WordRune(before) && !WordRune(after) {
			return true
		}
		from = i + 1
	}
}

// WordRune reports whether r belongs to a word: a letter, a digit or an underscore.
func WordRune(r rune) bool {
	return r == '_' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// Named reports whether a text or key inside a value contains a name.
func Named(v jsonv.Value, name string) bool {
	found := false
	EveryText(v, func(s string) { found = found || Names(s, name) })
	return found
}

// EveryText calls use with every text inside a value, keys included.
func EveryText(v jsonv.Value, use func(string)) {
	switch v.Kind() {
	case jsonv.KindString:
		use(v.Text())
	case jsonv.KindArray:
		for _, e := range v.Elems() {
			EveryText(e, use)
		}
	case jsonv.KindObject:
		for k, e := range v.Members() {
			use(k)
			EveryText(e, use)
		}
	}
}
