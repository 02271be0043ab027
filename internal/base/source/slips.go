package source

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Unspaced returns the name and the value of a key that was written without a blank after its
// colon, as in {city:Berlin}: YAML reads one key, without a value.
func Unspaced(key, value *Node) (name, rest string, ok bool) {
	if key.Quoted || value == nil || value.Kind != KindNull || value.Text != "" {
		return "", "", false
	}
	name, rest, ok = strings.Cut(key.Text, ":")
	if !ok || name == "" || rest == "" || strings.HasPrefix(rest, "//") || strings.ContainsAny(name, " ") {
		return "", "", false
	}
	return name, strings.TrimLeft(rest, ":"), true
}

// SpacedHint says how a pair is written.
func SpacedHint(name, rest string) string {
	return `a blank follows the ":": ` + name + ": " + rest
}

// lookalikes are letters of other alphabets that look like Latin ones.
var lookalikes = map[rune]rune{
	'а': 'a', 'е': 'e', 'о': 'o', 'р': 'p', 'с': 'c', 'у': 'y', 'х': 'x', 'і': 'i', 'ј': 'j', 'ѕ': 's', 'ԁ': 'd', 'һ': 'h', 'ԛ': 'q', 'ԝ': 'w', 'ո': 'n', 'ս': 'u',
	'А': 'A', 'В': 'B', 'Е': 'E', 'К': 'K', 'М': 'M', 'Н': 'H', 'О': 'O', 'Р': 'P', 'С': 'C', 'Т': 'T', 'У': 'Y', 'Х': 'X', 'І': 'I', 'Ј': 'J', 'Ѕ': 'S',
	'α': 'a', 'ο': 'o', 'ν': 'v', 'ρ': 'p', 'ι': 'i', 'κ': 'k', 'υ': 'u', 'Α': 'A', 'Β': 'B', 'Ε': 'E', 'Ζ': 'Z', 'Η': 'H', 'Ι': 'I', 'Κ': 'K', 'Μ': 'M', 'Ν': 'N',
	'Ο': 'O', 'Ρ': 'P', 'Τ': 'T', 'Υ': 'Y', 'Χ': 'X',
}

// Latin returns a word with the Latin letters that its letters look like.
func Latin(word string) string {
	return strings.Map(func(r rune) rune {
		if as, ok := lookalikes[r]; ok {
			return as
		}
		return r
	}, word)
}

// MixedLetters describes the first letter that looks like a Latin one, in a word that has
// Latin letters too; or returns "". Words are runs of letters; where a capital follows a small
// letter, another word begins.
func MixedLetters(text string) string {
	var foreign rune
	latin := false
	before := ' '
	for _, r := range text + " " {
		if !unicode.IsLetter(r) || unicode.IsUpper(r) && unicode.IsLower(before) {
			if foreign != 0 && latin {
				return fmt.Sprintf("%q (%U) is a %s letter that looks like the Latin %q", string(foreign), foreign, alphabet(foreign), string(lookalikes[foreign]))
			}
			foreign, latin = 0, false
		}
		before = r
		if unicode.Is(unicode.Latin, r) {
			latin = true
		} else if _, alike := lookalikes[r]; alike && foreign == 0 {
			foreign = r
		}
	}
	return ""
}

func alphabet(r rune) string {
	switch {
	case unicode.Is(unicode.Greek, r):
		return "Greek"
	case unicode.Is(unicode.Armenian, r):
		return "Armenian"
	}
	return "Cyrillic"
}

// MeantKey returns the known name that an unknown key stands for because of a slip that the
// eye does not see, with a hint: no blank after its colon, or letters of another alphabet.
func MeantKey(key, value *Node, names []string) (name, hint string) {
	known := func(name string) bool { return slices.Contains(names, name) }
	if word, rest, ok := Unspaced(key, value); ok {
		if near := Nearest(word, names); near != "" && !known(word) {
			word = near
		}
		if known(word) {
			return word, SpacedHint(word, rest)
		}
	}
	if mixed := MixedLetters(key.Text); mixed != "" && known(Latin(key.Text)) {
		return Latin(key.Text), "write " + Latin(key.Text) + ": " + mixed
	}
	return "", ""
}
