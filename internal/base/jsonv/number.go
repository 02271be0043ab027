package jsonv

import (
	"cmp"
	"strconv"
	"strings"
)

// Number returns the JSON number with the literal lit, which is kept as written. The
// error is a *SyntaxError when lit is not a number literal of RFC 8259 section 6.
func Number(lit string) (Value, error) {
	end, err := scanNumber([]byte(lit), 0)
	if err == nil && end != len(lit) {
		err = newSyntaxError(end, "unexpected %s after the number", showByte([]byte(lit), end))
	}
	if err != nil {
		return Value{}, err
	}
	return Value{kind: KindNumber, s: lit}, nil
}

// Float64 returns the nearest float64, an infinity when the number is out of range,
// and 0 for every other kind.
func (v Value) Float64() float64 {
	if v.kind != KindNumber {
		return 0
	}
	f, _ := strconv.ParseFloat(v.s, 64) // on a range error f is ±Inf
	return f
}

// IsInteger reports whether the value is a number without a fraction, however it
// is written: 1.0 and 1e2 are integers (JSON Schema 2020-12 validation, section
// 6.1.1).
func (v Value) IsInteger() bool { return v.kind == KindNumber && parseDecimal(v.s).isInteger() }

// Int64 returns the number if it is an integer that fits into an int64, however it is
// written (1.0, 1e3), and whether it is.
func (v Value) Int64() (int64, bool) {
	if v.kind != KindNumber {
		return 0, false
	}
	if len(v.s) <= 19 {
		if i, err := strconv.ParseInt(v.s, 10, 64); err == nil {
			return i, true
		}
	}
	d := parseDecimal(v.s)
	if d.zero() {
		return 0, true
	}
	// An integer of more than 19 digits cannot fit.
	if d.bigPoint != "" || !d.isInteger() || d.point > 19 {
		return 0, false
	}
	lit := d.digits + strings.Repeat("0", int(d.point)-len(d.digits))
	if d.neg {
		lit = "-" + lit
	}
	i, err := strconv.ParseInt(lit, 10, 64)
	return i, err == nil
}

// Compare orders two numbers by exact decimal value. It returns -1, 0 or 1, and
// whether both values are numbers.
func Compare(a, b Value) (int, bool) {
	if a.kind != KindNumber || b.kind != KindNumber {
		return 0, false
	}
	return compareLiterals(a.s, b.s), true
}

func compareLiterals(a, b string) int {
	if a == b {
		return 0
	}
	if len(a) <= 18 && len(b) <= 18 {
		x, errX := strconv.ParseInt(a, 10, 64)
		y, errY := strconv.ParseInt(b, 10, 64)
		if errX == nil && errY == nil {
			return cmp.Compare(x, y)
		}
	}
	return parseDecimal(a).compare(parseDecimal(b))
}

// ClampNumber returns a literal of the number reduced to at most maxDigits
// significant digits and an exponent of at most maxPoint. A whole number stays whole.
func (v Value) ClampNumber(maxPoint int64, maxDigits int) string {
	lit := v.s
	if len(lit) <= maxDigits && !strings.ContainsAny(lit, "eE") {
		return lit
	}
	d := parseDecimal(lit)
	if d.zero() {
		return "0"
	}
	if d.bigPoint == "" && max(d.point, -d.point) <= maxPoint && len(d.digits) <= maxDigits {
		return lit
	}
	d.digits = d.digits[:min(len(d.digits), maxDigits)]
	// Keep digits at most up to the point, so that a whole number stays whole.
	limit := maxPoint + int64(len(d.digits))
	switch {
	case strings.HasPrefix(d.bigPoint, "-"):
		d.point = -limit
	case d.bigPoint != "":
		d.point = limit
	default:
		d.point = max(-limit, min(limit, d.point))
	}
	sign := ""
	if d.neg {
		sign = "-"
	}
	return sign + "0." + d.digits + "e" + strconv.FormatInt(d.point, 10)
}
