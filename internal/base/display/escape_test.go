package display_test

import (
	"testing"
	"unicode"

	"mcptest/internal/base/display"
)

// The list in Hidden is compared with Unicode's own properties, for every
// character.
func TestHiddenAgreesWithUnicode(t *testing.T) {
	t.Parallel()
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r >= 0xd800 && r < 0xe000 {
			continue // surrogates are not characters of a UTF-8 text
		}
		want := unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Co, unicode.Other_Default_Ignorable_Code_Point,
			unicode.Variation_Selector, unicode.Noncharacter_Code_Point) ||
			unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r) || // these marks are visible
			r == 0x2800 || // BRAILLE PATTERN BLANK
			r >= 0xe0000 // tags, selectors, private use, and what lies unassigned between them
		if got := display.IsHidden(r); got != want {
			t.Errorf("%U: got %v, want %v", r, got, want)
		}
	}
}

func TestEscape(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain text, déjà vu 日本 😀":               "plain text, déjà vu 日本 😀",
		"a\nb\tc\rd\x00\x1b\x7f\u0085":           `a\nb\tc\rd\x00\x1b\x7f\x85`,
		"exp\u3164ect \u2800\ue000\u115f":        `exp\u3164ect \u2800\ue000\u115f`,
		"\u202eevil\u2066\u200b\ufeff\u00ad":     `\u202eevil\u2066\u200b\ufeff\u00ad`,
		"a\u200db\ufe0f\U000e0041":               `a\u200db\ufe0f\U000e0041`,
		"⚠\ufe0f 1\ufe0f⃣ 👩\u200d❤\ufe0f\u200d👩": "⚠\ufe0f 1\ufe0f⃣ 👩\u200d❤\ufe0f\u200d👩",
		"क्\u200dष می\u200cخواهم":                "क्\u200dष می\u200cخواهم",
		"⚠\ufe0f\ufe0f é\u200d\u200dé é\u200d":   `⚠` + "\ufe0f" + `\ufe0f é\u200d\u200dé é\u200d`,
		"\xff\xc3( \xed\xa0\x80 \ufffd":          `\xff\xc3( \ud800 ` + "\ufffd",
		"\xae\u200c훅":                            `\xae\u200c훅`,
		`back\slash`:                             `back\slash`,
	} {
		if got := display.Escape(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"{\n  \"a\": \"é 😀 \ufffd\"\n}": "{\n  \"a\": \"é 😀 \ufffd\"\n}",
		"\"\u202e\x7f\U000e0041\"":      `"\u202e\u007f\udb40\udc41"`,
		"\"\xff\xed\xa0\x80\"":          "\"\xff\xed\xa0\x80\"",
	} {
		if got := display.JSON(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
