package secret

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
)

// encoding is one way to write a declared value.
type encoding struct {
	text string
	kind encodingKind
}

type encodingKind uint8

const (
	asText   encodingKind = iota
	inBase64              // part of a base64 text: its neighbors contain bits of it
	inQuotes              // a short value with the quotes around it
)

// listEncodings lists the ways to write a declared value of at least MinLength bytes,
// except for the escapes that [hasEscapes] and [hasURL] find.
func listEncodings(v string) []encoding {
	once := encodeJSONInner(v)
	digits := hex.EncodeToString([]byte(v))
	plain := []string{
		v, once, encodeJSONInner(once), url.QueryEscape(v), digits, strings.ToUpper(digits),
		// After a stray backslash, these have another meaning.
		encodeHTMLInner(v), strings.ReplaceAll(once, "/", `\/`),
	}
	if isByChance(v) { // headers and error messages change case
		plain = append(plain, strings.ToLower(v), strings.ToUpper(v))
	}
	var out []encoding
	add := func(s string, k encodingKind) {
		if len(s) >= MinLength && !slices.ContainsFunc(out, func(e encoding) bool { return e.text == s }) {
			out = append(out, encoding{s, k})
		}
	}
	for _, s := range plain {
		add(s, asText)
	}
	for shift := range 3 {
		add(encodeBase64Core(base64.RawStdEncoding, v, shift), inBase64)
		add(encodeBase64Core(base64.RawURLEncoding, v, shift), inBase64)
	}
	return out
}

// encodeBase64Core returns the characters that always occur when v is encoded after shift
// (mod 3) other bytes and before any others. Characters at the edges are omitted,
// because they share bits with adjacent bytes.
func encodeBase64Core(enc *base64.Encoding, v string, shift int) string {
	s := enc.EncodeToString(append(make([]byte, shift, shift+len(v)), v...))
	head := []int{0, 2, 3}[shift]
	tail := len(s)
	if (shift+len(v))%3 != 0 {
		tail--
	}
	return s[head:max(tail, head)]
}

// encodeJSONInner returns v as written inside a JSON string, with as few escapes as
// possible.
func encodeJSONInner(v string) string {
	s := string(jsonv.AppendString(nil, v))
	return s[1 : len(s)-1]
}

// encodeHTMLInner is encodeJSONInner as encoding/json writes it by default, with <, > and
// & escaped.
func encodeHTMLInner(v string) string {
	b, err := json.Marshal(v)
	if err != nil {
		return v
	}
	return string(b[1 : len(b)-1])
}
