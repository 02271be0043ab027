package secret

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"

	"mcptest/internal/jsonv"
)

// form is one way in which a declared value is written.
type form struct {
	text string
	kind formKind
}

type formKind uint8

const (
	formPlain  formKind = iota
	formBase64          // part of a base64 text: the neighbours hold bits of it as well
	formQuoted          // a short value with the quotes around it
)

// forms lists the ways in which a declared value of at least MinLength bytes
// may be written, other than with escapes that [unusual] or [encoded] see.
func forms(v string) []form {
	once := jsonInner(v)
	digits := hex.EncodeToString([]byte(v))
	plain := []string{
		v, once, jsonInner(once), url.QueryEscape(v), digits, strings.ToUpper(digits),
		// After a stray backslash, these are not what they are read as.
		htmlInner(v), strings.ReplaceAll(once, "/", `\/`),
	}
	if chance(v) { // headers and error messages change case
		plain = append(plain, strings.ToLower(v), strings.ToUpper(v))
	}
	var out []form
	seen := map[string]bool{}
	add := func(s string, k formKind) {
		if len(s) >= MinLength && !seen[s] {
			seen[s] = true
			out = append(out, form{s, k})
		}
	}
	for _, s := range plain {
		add(s, formPlain)
	}
	for shift := range 3 {
		add(base64Core(base64.RawStdEncoding, v, shift), formBase64)
		add(base64Core(base64.RawURLEncoding, v, shift), formBase64)
	}
	return out
}

// base64Core returns the characters that v always has when it is encoded
// after shift (mod 3) other bytes and before any others: those at the edges
// that share bits with a neighbour are left out.
func base64Core(enc *base64.Encoding, v string, shift int) string {
	s := enc.EncodeToString(append(make([]byte, shift, shift+len(v)), v...))
	head := []int{0, 2, 3}[shift]
	tail := len(s)
	if (shift+len(v))%3 != 0 {
		tail--
	}
	return s[head:max(tail, head)]
}

// jsonInner returns v as it is inside a JSON string, with as few escapes as
// may be.
func jsonInner(v string) string {
	s := string(jsonv.AppendString(nil, v))
	return s[1 : len(s)-1]
}

// htmlInner is jsonInner as encoding/json writes it by default, with <, > and
// & escaped.
func htmlInner(v string) string {
	b, err := json.Marshal(v)
	if err != nil {
		return v
	}
	return string(b[1 : len(b)-1])
}
