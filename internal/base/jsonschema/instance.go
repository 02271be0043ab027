package jsonschema

import (
	"encoding/json"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mcptest/internal/base/jsonv"
)

// The validator computes with big.Rat, which writes out every zero of 1e400000 and
// fails (or worse) beyond a million of them. Numbers beyond these bounds are clamped
// before validation; no reasonable schema can distinguish them.
const (
	maxRatPoint  = 1000
	maxRatDigits = 2000
)

// toAny converts a value to the validator's form. In a schema, counts beyond an int,
// which would overflow in the validator, become the largest int.
func toAny(v jsonv.Value, schema bool) any {
	switch v.Kind() {
	case jsonv.KindBool:
		return v.Bool()
	case jsonv.KindNumber:
		return json.Number(v.ClampNumber(maxRatPoint, maxRatDigits))
	case jsonv.KindString:
		return maskSurrogates(v.Text())
	case jsonv.KindArray:
		out := make([]any, v.Len())
		for i, e := range v.Elems() {
			out[i] = toAny(e, schema)
		}
		return out
	case jsonv.KindObject:
		out := make(map[string]any, v.Len())
		for k, e := range v.Members() {
			out[maskSurrogates(k)] = toAny(e, schema)
			if schema && slices.Contains(countKeywords, k) && above(e, math.MaxInt) {
				out[k] = json.Number(strconv.Itoa(math.MaxInt))
			}
		}
		return out
	}
	return nil
}

// surrogateMask moves lone surrogates into a private use plane, where they stay
// distinct and count as one character each.
const surrogateMask = 0xF0000 - 0xD800

func maskSurrogates(s string) string {
	if strings.IndexByte(s, 0xED) < 0 || utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if r, ok := jsonv.SurrogateAt(s[i:]); ok {
			b.WriteRune(r + surrogateMask)
			i += 3
			continue
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}

// above reports whether v is a number beyond limit.
func above(v jsonv.Value, limit int64) bool {
	c, ok := jsonv.Compare(v, jsonv.Int(limit))
	return ok && c > 0
}

// countKeywords are the keywords with a count, which the validator stores as an int.
var countKeywords = []string{
	"minLength", "maxLength", "minItems", "maxItems",
	"minProperties", "maxProperties", "minContains", "maxContains",
}

// children yields the elements or members of a value with their pointer
// tokens; of duplicate keys only the last.
func children(v jsonv.Value) iter.Seq2[string, jsonv.Value] {
	if v.Kind() == jsonv.KindObject {
		return v.Effective
	}
	return v.Children()
}

// depthOf returns the nesting depth of arrays and objects.
func depthOf(v jsonv.Value) int {
	if v.Kind() != jsonv.KindArray && v.Kind() != jsonv.KindObject {
		return 0
	}
	deepest := 0
	for _, e := range children(v) {
		deepest = max(deepest, depthOf(e))
	}
	return 1 + deepest
}
