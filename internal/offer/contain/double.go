package contain

import (
	"context"
	"math"
	"math/big"

	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/jsonv"
)

// Most readers of JSON store numbers as floating-point numbers of double precision. A
// witness must hold for them too: they read 9007199254740993 as 9007199254740992.

// toDouble returns the shortest number that such a reader stores as the same value.
func toDouble(v jsonv.Value) jsonv.Value {
	if v.Kind() != jsonv.KindNumber {
		return v.Map(func(k string, e jsonv.Value) (string, jsonv.Value) { return k, toDouble(e) })
	}
	f := v.Float64()
	if math.IsInf(f, 0) {
		f = math.Copysign(math.MaxFloat64, f)
	}
	return jsonv.Float(f)
}

// Confirms reports whether the validator accepts a value for a and rejects it for b,
// with exact numbers and with those of double precision.
func Confirms(ctx context.Context, a, b *Schema, v jsonv.Value) bool {
	return split(ctx, a.valid, b.valid, v) && split(ctx, a.double, b.double, toDouble(v))
}

func split(ctx context.Context, a, b *jsonschema.Schema, v jsonv.Value) bool {
	in, err := a.Validate(ctx, v)
	if err != nil || len(in) > 0 {
		return false
	}
	out, err := b.Validate(ctx, v)
	return err == nil && len(out) > 0
}

// MaxExact is the largest integer that readers with double precision never confuse
// with another one.
const MaxExact = 1<<53 - 1

// doubt grades how readers with double precision may misjudge a number: not at all, as
// an integer or multiple, or because they don't store it exactly.
func (b *branch) doubt(x *big.Rat) int {
	f, _ := x.Float64()
	if exact := parseRat(jsonv.Float(f)); exact == nil || exact.Cmp(x) != 0 {
		return 2
	}
	if math.Abs(f) >= MaxExact {
		return 1
	}
	for _, l := range b.atoms {
		if l.a.op == opMultiple {
			step, _ := l.a.num.Float64()
			if q := f / step; (q == math.Trunc(q)) == l.neg {
				return 1
			}
		}
	}
	return 0
}
