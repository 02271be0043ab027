package contain

import (
	"math/big"
	"slices"

	"mcptest/internal/base/jsonv"
)

// maxMultiples limits how many multiples in a range are tried.
const maxMultiples = 4000

// bounds is the range of a number.
type bounds struct {
	lo, hi             *big.Rat // nil if there is none
	loStrict, hiStrict bool
}

func (r *bounds) atLeast(x *big.Rat, strict bool) {
	if c := compareOr(r.lo, x, -1); c < 0 || c == 0 && strict {
		r.lo, r.loStrict = x, strict
	}
}

func (r *bounds) atMost(x *big.Rat, strict bool) {
	if c := compareOr(r.hi, x, 1); c > 0 || c == 0 && strict {
		r.hi, r.hiStrict = x, strict
	}
}

func compareOr(a, b *big.Rat, missing int) int {
	if a == nil {
		return missing
	}
	return a.Cmp(b)
}

func (r *bounds) isEmpty() bool {
	if r.lo == nil || r.hi == nil {
		return false
	}
	c := r.lo.Cmp(r.hi)
	return c > 0 || c == 0 && (r.loStrict || r.hiStrict)
}

// solveNumber constructs a number.
func (b *branch) solveNumber() answer {
	var r bounds
	for _, a := range b.listAtoms(opMin) {
		r.atLeast(a.num, a.strict)
	}
	for _, a := range b.listNegated(opMax) {
		r.atLeast(a.num, !a.strict)
	}
	for _, a := range b.listAtoms(opMax) {
		r.atMost(a.num, a.strict)
	}
	for _, a := range b.listNegated(opMin) {
		r.atMost(a.num, !a.strict)
	}
	if r.isEmpty() {
		return answer{}
	}
	var step *big.Rat
	if b.types&tFraction == 0 {
		step = big.NewRat(1, 1)
	}
	for _, a := range b.listAtoms(opMultiple) {
		step = findCommonMultiple(step, a.num)
	}
	for _, a := range b.listNegated(opMultiple) {
		if step != nil && new(big.Rat).Quo(step, a.num).IsInt() {
			return answer{} // each multiple of one is a multiple of the other
		}
	}
	list, complete := r.listFractions()
	if step != nil {
		list, complete = r.listMultiples(step)
	}
	best, least := answer{st: unknown}, 3
	if complete {
		best.st = empty
	}
	for _, x := range list {
		if d := b.doubt(x); d < least && b.fitsNumber(x) {
			best, least = (answer{found, toNumber(x)}), d
			if d == 0 {
				break
			}
		}
	}
	return best
}

func (b *branch) fitsNumber(x *big.Rat) bool {
	on := tFraction
	if x.IsInt() {
		on = tInt
	}
	if b.types&on == 0 {
		return false
	}
	for _, l := range b.atoms {
		switch l.a.op {
		case opMin, opMax, opMultiple:
			if holdsNumber(l.a, x) == l.neg {
				return false
			}
		}
	}
	return !slices.ContainsFunc(b.listExcluded(), func(v jsonv.Value) bool {
		return v.Kind() == jsonv.KindNumber && parseRat(v) != nil && parseRat(v).Cmp(x) == 0
	})
}

// findCommonMultiple returns the least common multiple of two numbers; a may be nil.
func findCommonMultiple(a, b *big.Rat) *big.Rat {
	if a == nil {
		return b
	}
	// lcm(p/q, r/s) = lcm(p·s, r·q) / (q·s)
	x := new(big.Int).Mul(a.Num(), b.Denom())
	y := new(big.Int).Mul(b.Num(), a.Denom())
	lcm := new(big.Int).Mul(x, y)
	lcm.Quo(lcm, new(big.Int).GCD(nil, nil, x, y))
	return new(big.Rat).SetFrac(lcm, new(big.Int).Mul(a.Denom(), b.Denom()))
}

// listMultiples lists multiples of step in the range, beginning with the one next to zero,
// and reports whether the list is complete.
func (r *bounds) listMultiples(step *big.Rat) (list []*big.Rat, complete bool) {
	var lo, hi *big.Int
	if r.lo != nil {
		lo = roundDown(new(big.Rat).Quo(r.lo, step))
		c := new(big.Rat).Mul(new(big.Rat).SetInt(lo), step).Cmp(r.lo)
		if c < 0 || c == 0 && r.loStrict {
			lo.Add(lo, big.NewInt(1))
		}
	}
	if r.hi != nil {
		hi = roundDown(new(big.Rat).Quo(r.hi, step))
		if r.hiStrict && new(big.Rat).Mul(new(big.Rat).SetInt(hi), step).Cmp(r.hi) == 0 {
			hi.Sub(hi, big.NewInt(1))
		}
	}
	start := big.NewInt(0)
	if lo != nil && lo.Sign() > 0 {
		start = lo
	} else if hi != nil && hi.Sign() < 0 {
		start = hi
	}
	toward := func(from *big.Int, by int64, end *big.Int) (whole bool) {
		for k := new(big.Int).Set(from); end == nil || k.Cmp(end)*int(by) <= 0; k.Add(k, big.NewInt(by)) {
			if len(list) == maxMultiples {
				return false
			}
			list = append(list, new(big.Rat).Mul(new(big.Rat).SetInt(k), step))
		}
		return true
	}
	complete = toward(start, 1, hi) && toward(new(big.Int).Sub(start, big.NewInt(1)), -1, lo)
	return list, complete
}

func roundDown(r *big.Rat) *big.Int {
	// Euclidean division rounds down, as the denominator is positive.
	return new(big.Int).Div(r.Num(), r.Denom())
}

// listFractions lists numbers of a range that has infinitely many, or one.
func (r *bounds) listFractions() (list []*big.Rat, complete bool) {
	if r.lo != nil && r.hi != nil && r.lo.Cmp(r.hi) == 0 {
		return []*big.Rat{r.lo}, true
	}
	// The part of the range next to zero: its numbers have few digits.
	lo, hi, most := r.lo, r.hi, big.NewRat(64, 1)
	switch {
	case hi != nil && hi.Sign() <= 0:
		least := new(big.Rat).Sub(hi, most)
		if lo == nil || lo.Cmp(least) < 0 {
			lo = least
		}
	case lo == nil || lo.Sign() < 0:
		lo = new(big.Rat)
	}
	end := new(big.Rat).Add(lo, most)
	if hi == nil || hi.Cmp(end) > 0 {
		hi = end
	}
	inside := bounds{lo: lo, hi: hi, loStrict: r.loStrict, hiStrict: r.hiStrict}
	if list, _ = inside.listMultiples(big.NewRat(1, 1)); len(list) > 70 {
		list = list[:70]
	}
	parts := func(lo, hi *big.Rat) {
		width := new(big.Rat).Sub(hi, lo)
		for i := int64(1); i < 64; i++ {
			for _, part := range []*big.Rat{big.NewRat(2*i-1, 128), big.NewRat(2*i-1, 1000)} {
				list = append(list, new(big.Rat).Add(lo, new(big.Rat).Mul(width, part)))
			}
		}
	}
	parts(lo, hi)
	if r.lo != nil && r.hi != nil {
		parts(r.lo, r.hi)
	}
	return list, false
}

// toNumber writes a number that has a finite decimal form.
func toNumber(r *big.Rat) jsonv.Value {
	digits, _ := r.FloatPrec()
	v, err := jsonv.Number(r.FloatString(digits))
	if err != nil {
		return jsonv.Int(0)
	}
	return v
}
