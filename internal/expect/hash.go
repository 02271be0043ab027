package expect

import (
	"hash/maphash"
	"math"

	"mcptest/internal/jsonv"
)

// hasher hashes values so that equal ones (jsonv.Equal) have equal hashes.
type hasher struct{ seed maphash.Seed }

func (h *hasher) init() { h.seed = maphash.MakeSeed() }

func (h *hasher) hash(v jsonv.Value) uint64 {
	kind := uint64(v.Kind()) * 0x9E3779B97F4A7C15
	switch v.Kind() {
	case jsonv.KindBool:
		if v.Bool() {
			return kind + 1
		}
	case jsonv.KindNumber:
		// Equal decimals round to the same float; + 0 makes -0 and 0 one.
		return mix(kind, math.Float64bits(v.Float64()+0))
	case jsonv.KindString:
		return mix(kind, maphash.String(h.seed, v.Text()))
	case jsonv.KindArray:
		for _, e := range v.Elems() {
			kind = mix(kind, h.hash(e))
		}
	case jsonv.KindObject:
		// The order of members does not count, and of several members with
		// one key only the last.
		sum := uint64(0)
		last := make(map[string]uint64, v.Len())
		for key, m := range v.Members() {
			k := mix(maphash.String(h.seed, key), h.hash(m))
			sum += k - last[key]
			last[key] = k
		}
		return mix(kind, sum)
	}
	return kind
}

// mix combines two hashes, order counting.
func mix(a, b uint64) uint64 {
	a = (a ^ b) * 0xff51afd7ed558ccd
	return a ^ a>>32 + b
}
