package source

import (
	"fmt"
	"strings"
	"unicode"
)

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

// DescribeMixedLetters describes the first letter that looks like a Latin one, in a word that has
// Latin letters too; or returns "". Words are runs of letters; where a capital follows a small
// letter, another word begins.
func DescribeMixedLetters(text string) string {
	var foreign rune
	latin := false
	before := ' '
	for _, r := range text + " " {
		if !unicode.IsLetter(r) || unicode.IsUpper(r) && unicode.IsLower(before) {
			if foreign != 0 && latin {
				return describeLetter(foreign)
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

// describeLetter names a letter that looks like a Latin one.
func describeLetter(r rune) string {
	like := string(lookalikes[r])
	return fmt.Sprintf("%q (%U) is a %s letter that looks like the Latin %q", string(r), r, nameAlphabet(r), like)
}

func nameAlphabet(r rune) string {
	switch {
	case unicode.Is(unicode.Greek, r):
		return "Greek"
	case unicode.Is(unicode.Armenian, r):
		return "Armenian"
	}
	return "Cyrillic"
}
