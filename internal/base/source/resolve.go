package source

import (
	"cmp"
	"math/big"
	"strings"
)

// A scalarNote describes why a plain scalar that looks like another type is text.
type scalarNote uint8

const (
	noteNone        scalarNote = iota
	noteLeadingZero            // 017: octal in YAML 1.1, decimal in YAML 1.2
	noteNotFinite              // .inf, .nan: floats that JSON cannot represent
	noteHugeRadix              // 0x… too long to convert
)

// maxRadixDigits limits the conversion of 0x and 0o literals to decimal, whose cost
// is quadratic.
const maxRadixDigits = 1024

// resolvePlain applies the core schema (YAML 1.2.2 section 10.3.2) to a plain scalar
// and returns its kind and value. If YAML 1.1 and 1.2 readers disagree, or JSON has
// no such value, the scalar is text.
func resolvePlain(s string) (Kind, string, scalarNote) {
	switch s {
	case "":
		return KindNull, "", noteNone
	case "~", "null", "Null", "NULL":
		return KindNull, "null", noteNone
	case "true", "True", "TRUE":
		return KindBool, "true", noteNone
	case "false", "False", "FALSE":
		return KindBool, "false", noteNone
	}
	c := s[0]
	switch {
	case c >= '0' && c <= '9', c == '-', c == '+', c == '.':
		return resolveNumber(s)
	}
	return KindString, s, noteNone
}

func resolveNumber(s string) (Kind, string, scalarNote) {
	if len(s) > 2 && s[0] == '0' {
		switch s[1] {
		case 'x':
			return resolveRadix(s, 16)
		case 'o':
			return resolveRadix(s, 8)
		}
	}
	sign, rest := "", s
	if rest[0] == '-' || rest[0] == '+' {
		if rest[0] == '-' {
			sign = "-"
		}
		rest = rest[1:]
	}
	switch rest {
	case ".inf", ".Inf", ".INF":
		return KindString, s, noteNotFinite
	}
	switch s {
	case ".nan", ".NaN", ".NAN":
		return KindString, s, noteNotFinite
	}
	whole, fraction, exponent, ok := splitNumber(rest)
	if !ok {
		return KindString, s, noteNone
	}
	hasPoint := strings.Contains(rest, ".")
	if len(whole) > 1 && whole[0] == '0' {
		return KindString, s, noteLeadingZero
	}
	if !hasPoint && exponent == "" {
		return KindInt, sign + whole, noteNone
	}
	whole = cmp.Or(whole, "0")
	if hasPoint {
		fraction = cmp.Or(fraction, "0")
		whole += "." + fraction
	}
	return KindFloat, sign + whole + exponent, noteNone
}

// splitNumber splits an unsigned decimal number; the exponent includes its e.
func splitNumber(s string) (whole, fraction, exponent string, ok bool) {
	whole = keepDigits(s)
	tail := s[len(whole):]
	if strings.HasPrefix(tail, ".") {
		fraction = keepDigits(tail[1:])
		tail = tail[1+len(fraction):]
	}
	if whole == "" && fraction == "" {
		return "", "", "", false
	}
	if tail == "" {
		return whole, fraction, "", true
	}
	if tail[0] != 'e' && tail[0] != 'E' {
		return "", "", "", false
	}
	power := strings.TrimLeft(tail[1:], "+-")
	if power == "" || len(tail)-len(power) > 2 || keepDigits(power) != power {
		return "", "", "", false
	}
	return whole, fraction, tail, true
}

func resolveRadix(s string, base int) (Kind, string, scalarNote) {
	if len(s)-2 > maxRadixDigits {
		return KindString, s, noteHugeRadix
	}
	if strings.ContainsAny(s[2:], "+-_") {
		return KindString, s, noteNone
	}
	n, ok := new(big.Int).SetString(s[2:], base)
	if !ok {
		return KindString, s, noteNone
	}
	return KindInt, n.String(), noteNone
}

// keepDigits returns the decimal digits that s starts with.
func keepDigits(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return s[:i]
		}
	}
	return s
}

// isFloatLiteral reports whether a JSON number literal has a fraction or an exponent.
func isFloatLiteral(s string) bool { return strings.ContainsAny(s, ".eE") }

// looksBoolean returns the boolean value of a text in YAML 1.1.
func looksBoolean(s string) (value, ok bool) {
	switch strings.ToLower(s) {
	case "yes", "on", "y", "true":
		return true, true
	case "no", "off", "n", "false":
		return false, true
	}
	return false, false
}
