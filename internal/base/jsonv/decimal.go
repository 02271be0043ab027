package jsonv

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// decimal is 0.digits × 10^point with neither leading nor trailing zeros in
// digits, so that equal numbers have equal decimals; zero has no digits.
type decimal struct {
	neg      bool
	digits   string
	point    int64
	bigPoint string // instead of point when it is beyond int64: canonical decimal
}

// parseDecimal reads a valid number literal. Its cost is linear in len(lit),
// regardless of the exponent.
func parseDecimal(lit string) decimal {
	var d decimal
	if lit[0] == '-' {
		d.neg, lit = true, lit[1:]
	}
	mantissa, exp := lit, ""
	if i := strings.IndexAny(lit, "eE"); i >= 0 {
		mantissa, exp = lit[:i], lit[i+1:]
	}
	whole, frac, _ := strings.Cut(mantissa, ".")
	d.point = int64(len(whole))
	d.digits = whole
	if frac != "" {
		d.digits = whole + frac
	}
	trimmed := strings.TrimLeft(d.digits, "0")
	d.point -= int64(len(d.digits) - len(trimmed))
	d.digits = strings.TrimRight(trimmed, "0")
	if d.digits == "" {
		return decimal{}
	}
	if exp != "" {
		d.addExponent(exp)
	}
	return d
}

// addExponent adds the exponent of a literal ("+5", "-007", or a thousand
// digits) to d.point, exactly.
func (d *decimal) addExponent(exp string) {
	neg := exp[0] == '-'
	exp = strings.TrimLeft(exp, "+-")
	exp = strings.TrimLeft(exp, "0")
	shift := d.point // in the direction of the exponent
	if neg {
		shift = -shift
	}
	var sum string
	if len(exp) <= 18 {
		e, _ := strconv.ParseInt("0"+exp, 10, 64)
		sum = strconv.FormatInt(e+shift, 10)
	} else {
		sum = addSmall(exp, shift)
	}
	if neg {
		if sum[0] == '-' {
			sum = sum[1:]
		} else {
			sum = "-" + sum
		}
	}
	point, err := strconv.ParseInt(sum, 10, 64)
	if err != nil {
		d.point, d.bigPoint = 0, sum
		return
	}
	d.point = point
}

// addSmall adds n (below 10^17 either way) to a number of more than 18 digits
// without leading zeros.
func addSmall(digits string, n int64) string {
	cut := len(digits) - 18
	head, tail := []byte(digits[:cut]), digits[cut:]
	low, _ := strconv.ParseInt(tail, 10, 64)
	low += n
	const base = 1_000_000_000_000_000_000
	switch {
	case low >= base:
		low -= base
		i := len(head) - 1
		for ; i >= 0 && head[i] == '9'; i-- {
			head[i] = '0'
		}
		if i < 0 {
			head = append([]byte{'1'}, head...)
		} else {
			head[i]++
		}
	case low < 0:
		low += base
		i := len(head) - 1
		for ; head[i] == '0'; i-- { // the first digit is not zero
			head[i] = '9'
		}
		head[i]--
	}
	sum := strings.TrimLeft(string(head)+fmt.Sprintf("%018d", low), "0")
	if sum == "" {
		return "0"
	}
	return sum
}

func (d decimal) zero() bool { return d.digits == "" }

// isInteger reports whether the point is at or after the last digit.
func (d decimal) isInteger() bool {
	if d.bigPoint != "" {
		return d.bigPoint[0] != '-'
	}
	return d.zero() || d.point >= int64(len(d.digits))
}

func (d decimal) sign() int {
	switch {
	case d.zero():
		return 0
	case d.neg:
		return -1
	}
	return 1
}

func (d decimal) compare(o decimal) int {
	s, t := d.sign(), o.sign()
	if s != t || s == 0 {
		return cmp.Compare(s, t)
	}
	return s * cmp.Or(d.comparePoint(o), strings.Compare(d.digits, o.digits))
}

func (d decimal) comparePoint(o decimal) int {
	if d.bigPoint != "" || o.bigPoint != "" {
		return compareIntegers(d.formatPoint(), o.formatPoint())
	}
	return cmp.Compare(d.point, o.point)
}

func (d decimal) formatPoint() string {
	if d.bigPoint != "" {
		return d.bigPoint
	}
	return strconv.FormatInt(d.point, 10)
}

// compareIntegers compares canonical decimal integers of any size.
func compareIntegers(a, b string) int {
	aNeg, bNeg := a[0] == '-', b[0] == '-'
	switch {
	case aNeg && bNeg:
		a, b = b[1:], a[1:]
	case aNeg:
		return -1
	case bNeg:
		return 1
	}
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

// formatCanonical returns a text that is the same only for equal numbers.
func (d decimal) formatCanonical() string {
	if d.zero() {
		return "0"
	}
	sign := ""
	if d.neg {
		sign = "-"
	}
	return sign + d.digits + "e" + d.formatPoint()
}
