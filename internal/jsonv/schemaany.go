package jsonv

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The validator computes with big.Rat, which writes out every zero of 1e400000
// and gives up (or worse) beyond a million of them. Numbers past these bounds
// reach it cut down to them; no sane schema can tell.
const (
	maxRatPoint  = 1000
	maxRatDigits = 2000
)

// toAny turns a value into the validator's form.
func toAny(v Value) any {
	switch v.kind {
	case KindBool:
		return v.b
	case KindNumber:
		return json.Number(ratLiteral(v.s))
	case KindString:
		return maskSurrogates(v.s)
	case KindArray:
		out := make([]any, v.c.len())
		for i, e := range v.Elems() {
			out[i] = toAny(e)
		}
		return out
	case KindObject:
		out := make(map[string]any, v.c.len())
		for k, e := range v.Members() {
			out[maskSurrogates(k)] = toAny(e)
		}
		return out
	}
	return nil
}

func ratLiteral(lit string) string {
	if len(lit) <= maxRatDigits && !strings.ContainsAny(lit, "eE") {
		return lit
	}
	d := parseDecimal(lit)
	if d.zero() {
		return "0"
	}
	if d.bigPoint == "" && max(d.point, -d.point) <= maxRatPoint && len(d.digits) <= maxRatDigits {
		return lit
	}
	d.digits = d.digits[:min(len(d.digits), maxRatDigits)]
	// Digits go up to the point at most, so that a whole number stays whole.
	limit := int64(maxRatPoint + len(d.digits))
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

// surrogateMask moves lone surrogates into a private use plane, where they stay
// distinct and count as one character each.
const surrogateMask = 0xF0000 - 0xD800

func maskSurrogates(s string) string {
	if strings.IndexByte(s, 0xED) < 0 || utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if r, ok := surrogateAt(s[i:]); ok {
			b.WriteRune(r + surrogateMask)
			i += 3
			continue
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}

// countKeywords take a count, which the validator keeps as an int.
var countKeywords = [...]string{
	"minLength", "maxLength", "minItems", "maxItems",
	"minProperties", "maxProperties", "minContains", "maxContains",
}

// toSchemaAny is toAny for a schema: counts beyond an int, which would wrap
// round in the validator, become the largest int.
func toSchemaAny(v Value) any {
	switch v.kind {
	case KindArray:
		out := make([]any, v.c.len())
		for i, e := range v.Elems() {
			out[i] = toSchemaAny(e)
		}
		return out
	case KindObject:
		out := make(map[string]any, v.c.len())
		for k, e := range v.Members() {
			out[maskSurrogates(k)] = toSchemaAny(e)
		}
		for _, k := range countKeywords {
			if n, ok := v.Get(k); ok && n.kind == KindNumber && compareLiterals(n.s, strconv.Itoa(math.MaxInt)) > 0 {
				out[k] = json.Number(strconv.Itoa(math.MaxInt))
			}
		}
		return out
	}
	return toAny(v)
}

// children yields the elements or members of a value with their pointer
// tokens; of duplicate keys only the last.
func (v Value) children(yield func(string, Value) bool) {
	if v.kind == KindObject {
		v.effective(yield)
		return
	}
	for i, e := range v.Elems() {
		if !yield(strconv.Itoa(i), e) {
			return
		}
	}
}

// depth returns how many arrays and objects are inside one another.
func (v Value) depth() int {
	if v.c == nil {
		return 1
	}
	deepest := 0
	for _, e := range v.c.vals {
		if e.c != nil {
			deepest = max(deepest, e.depth())
		}
	}
	return 1 + deepest
}
