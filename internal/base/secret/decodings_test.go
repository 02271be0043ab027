package secret_test

import (
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"

	"mcptest/internal/base/secret"
	"mcptest/internal/base/testkit"
)

// style writes a text with the escapes of a language.
type style struct {
	name string
	enc  func(t *rapid.T, r rune) string
}

func units(r rune, format string) string {
	out := ""
	for _, u := range utf16.Encode([]rune{r}) {
		out += fmt.Sprintf(format, u)
	}
	return out
}

func eachByte(r rune, format string) string {
	out := ""
	for _, c := range []byte(string(r)) {
		out += fmt.Sprintf(format, c)
	}
	return out
}

func jsonRune(r rune) string {
	b, _ := json.Marshal(string(r))
	return string(b[1 : len(b)-1])
}

func plainOr(plain, other string, t *rapid.T) string {
	if rapid.Bool().Draw(t, "escape") {
		return other
	}
	return plain
}

// styles are the string literals and encoders that servers use.
var styles = []style{
	{"json", func(_ *rapid.T, r rune) string { return jsonRune(r) }},
	{"php json", func(_ *rapid.T, r rune) string {
		if r == '/' {
			return `\/`
		}
		if r > 126 {
			return units(r, `\u%04x`)
		}
		return jsonRune(r)
	}},
	{"json, some letters", func(t *rapid.T, r rune) string { return plainOr(jsonRune(r), units(r, `\u%04x`), t) }},
	{"json, every letter", func(_ *rapid.T, r rune) string { return units(r, `\u%04X`) }},
	{"go", func(_ *rapid.T, r rune) string { q := strconv.QuoteToASCII(string(r)); return q[1 : len(q)-1] }},
	{"go bytes", func(_ *rapid.T, r rune) string {
		if r > 126 {
			return eachByte(r, `\x%02x`)
		}
		q := strconv.Quote(string(r))
		return q[1 : len(q)-1]
	}},
	{"python", func(_ *rapid.T, r rune) string {
		switch {
		case r == '\\' || r == '\'':
			return `\` + string(r)
		case r > 126 && r < 256:
			return fmt.Sprintf(`\x%02x`, r)
		case r > 0xffff:
			return fmt.Sprintf(`\U%08x`, r)
		case r > 126:
			return fmt.Sprintf(`\u%04x`, r)
		}
		return string(r)
	}},
	{"javascript", func(t *rapid.T, r rune) string {
		return plainOr(jsonRune(r), fmt.Sprintf(`\u{%x}`, r), t)
	}},
	{"octal", func(_ *rapid.T, r rune) string { return eachByte(r, `\%03o`) }},
	{"hexadecimal", func(_ *rapid.T, r rune) string { return eachByte(r, `\x%02X`) }},
	{"percent", func(_ *rapid.T, r rune) string { return eachByte(r, `%%%02x`) }},
	{"path", func(_ *rapid.T, r rune) string { return url.PathEscape(string(r)) }},
	{"html", func(_ *rapid.T, r rune) string { return html.EscapeString(string(r)) }},
	{"entities", func(t *rapid.T, r rune) string {
		return plainOr(fmt.Sprintf("&#%d;", r), fmt.Sprintf("&#x%x;", r), t)
	}},
}

func write(t *rapid.T, s string, by style) string {
	var b strings.Builder
	for _, r := range s {
		b.WriteString(by.enc(t, r))
	}
	return b.String()
}

// TestNoEscapeHidesADeclaredSecret: a secret is masked in every style, once or twice
// applied, and nothing else is.
func TestNoEscapeHidesADeclaredSecret(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.StringMatching(`[A-Za-z0-9/"'\\ü€🔑 &<>+$.-]{8,24}`).Draw(t, "secret")
		value = strings.TrimSpace(value)
		if len(value) < secret.MinLength || strings.Contains(secret.Mask, value) {
			t.Skip()
		}
		checkStyles(t, value, secret.NewRedactor(), true)
	})
}

// TestNoEscapeHidesARecognisedSecret is the same for secrets that are recognized by
// their form.
func TestNoEscapeHidesARecognisedSecret(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.SampledFrom([]string{aws, gh, ghp, gl, slk, goog, oai, anth, jwt, pem, "npm_" + strings.Repeat("a1B2", 9)}).Draw(t, "secret")
		checkStyles(t, value, secret.NewRedactor(), false)
	})
}

func checkStyles(t *rapid.T, value string, r *secret.Redactor, declare bool) {
	if declare {
		r.Add(value)
	}
	const before, after = "say: ", " , done" // characters that every style leaves readable
	parts := []string{before, value, after}
	var names []string
	for range rapid.IntRange(1, 2).Draw(t, "levels") {
		by := rapid.SampledFrom(styles).Draw(t, "style")
		names = append(names, by.name)
		for i := range parts {
			parts[i] = write(t, parts[i], by)
		}
	}
	in := strings.Join(parts, "")
	want := parts[0] + secret.Mask + parts[2]
	if got := r.String(in); got != want {
		t.Fatalf("%q as %v: %s\n got %s\nwant %s", value, names, in, got, want)
	}
}

// Python writes text with a double quote in single quotes: the quote is not escaped, other
// characters are.
func TestQuotesBesideEscapes(t *testing.T) {
	for value, written := range map[string]string{
		`abc\bdef"gh`:     `abc\\bdef"gh`,
		`\b     "`:        `\\b     "`,
		"line\nand \"two": `line\nand "two`,
		"tab\tand \"two":  `tab\tand "two`,
	} {
		r := secret.NewRedactor()
		r.Add(value)
		testkit.Equal(t, "masked text", r.String("say: "+written+" , done"), "say: "+secret.Mask+" , done")
	}
}
