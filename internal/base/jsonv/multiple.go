package jsonv

import "math/big"

// Limits of IsMultiple: further digits are cut off, and a longer exponent is no multiple.
const (
	maxMultipleDigits   = 2000
	maxMultipleExponent = 1000
)

// IsMultiple reports whether a is an integer times step, exactly. The cost does not depend
// on the sizes of the numbers. It is false if one is no number or step is 0.
func IsMultiple(a, step Value) bool {
	if a.kind != KindNumber || step.kind != KindNumber {
		return false
	}
	x, y := parseDecimal(a.s).cut(), parseDecimal(step.s).cut()
	if x.zero() || y.zero() {
		return x.zero() && !y.zero()
	}
	if len(x.bigPoint) > maxMultipleExponent || len(y.bigPoint) > maxMultipleExponent {
		return false
	}
	n, divisor := x.toWhole(), y.toWhole()
	shift := new(big.Int).Sub(x.toBigExponent(), y.toBigExponent())
	ten := big.NewInt(10)
	if shift.Sign() >= 0 {
		return n.Mod(n.Mul(n, ten.Exp(ten, shift, divisor)), divisor).Sign() == 0
	}
	// The digits of x do not end with a zero, and 10^k divides none of fewer than k digits.
	if shift.Neg(shift).Cmp(big.NewInt(int64(len(x.digits)))) > 0 {
		return false
	}
	return n.Mod(n, divisor.Mul(divisor, ten.Exp(ten, shift, nil))).Sign() == 0
}

// cut returns the decimal with at most maxMultipleDigits digits.
func (d decimal) cut() decimal {
	d.digits = d.digits[:min(len(d.digits), maxMultipleDigits)]
	return d
}

// toWhole returns the digits as a number.
func (d decimal) toWhole() *big.Int {
	n, _ := new(big.Int).SetString(d.digits, 10)
	return n
}

// toBigExponent returns the power of ten of the last digit.
func (d decimal) toBigExponent() *big.Int {
	point := big.NewInt(d.point)
	if d.bigPoint != "" {
		point.SetString(d.bigPoint, 10)
	}
	return point.Sub(point, big.NewInt(int64(len(d.digits))))
}
