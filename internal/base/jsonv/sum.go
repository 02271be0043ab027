package jsonv

import (
	"math/big"
	"strconv"
	"strings"
)

// maxSum limits the digits of a sum.
const maxSum = 10_000

// Add returns the exact sum of two numbers. ok is false if one is no number, or if the
// sum would have too many digits because the numbers are of very different sizes.
func Add(a, b Value) (sum Value, ok bool) { return addExactly(a, b, false) }

// Subtract is like Add for a minus b.
func Subtract(a, b Value) (difference Value, ok bool) { return addExactly(a, b, true) }

func addExactly(a, b Value, minus bool) (Value, bool) {
	if a.kind != KindNumber || b.kind != KindNumber {
		return Value{}, false
	}
	x, y := parseDecimal(a.s), parseDecimal(b.s)
	y.neg = y.neg != minus
	exponent := min(x.exponent(), y.exponent())
	if !x.fits(exponent) || !y.fits(exponent) {
		return Value{}, false
	}
	total := x.scaleTo(exponent)
	total.Add(total, y.scaleTo(exponent))
	return makeLiteral(total, exponent), true
}

// exponent returns the power of ten of the last digit.
func (d decimal) exponent() int64 { return d.point - int64(len(d.digits)) }

// fits reports whether the decimal is at most maxSum digits long as a multiple of
// 10^exponent.
func (d decimal) fits(exponent int64) bool {
	return d.bigPoint == "" && d.point-exponent <= maxSum && d.point > -1<<40 && d.point < 1<<40
}

// scaleTo returns the decimal as a multiple of 10^exponent.
func (d decimal) scaleTo(exponent int64) *big.Int {
	n := new(big.Int)
	if d.zero() {
		return n
	}
	n.SetString(d.digits+strings.Repeat("0", int(d.exponent()-exponent)), 10)
	if d.neg {
		n.Neg(n)
	}
	return n
}

// makeLiteral returns n × 10^exponent as a number.
func makeLiteral(n *big.Int, exponent int64) Value {
	text := n.String()
	if exponent != 0 && n.Sign() != 0 {
		text += "e" + strconv.FormatInt(exponent, 10)
	}
	return Value{kind: KindNumber, s: text}
}
