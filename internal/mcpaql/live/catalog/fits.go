package catalog

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"unicode/utf8"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
)

// ReadBounds returns minimum and maximum, infinite if not documented.
func ReadBounds(p Parameter) (low, high float64) {
	low, high = math.Inf(-1), math.Inf(1)
	if v := p.Schema.Lookup("minimum"); v.Kind() == jsonv.KindNumber {
		low = v.Float64()
	}
	if v := p.Schema.Lookup("maximum"); v.Kind() == jsonv.KindNumber {
		high = v.Float64()
	}
	return low, high
}

// readLengths returns minLength and maxLength, in characters.
func readLengths(p Parameter) (low, high int) {
	high = math.MaxInt32
	if n, ok := p.Schema.Lookup("minLength").Int64(); ok {
		low = int(min(n, 1<<20))
	}
	if n, ok := p.Schema.Lookup("maxLength").Int64(); ok && n >= 0 {
		high = int(min(n, math.MaxInt32))
	}
	return low, high
}

// Fits describes the documented requirement that a value violates, or returns "".
func (cat *Catalog) Fits(p Parameter, v jsonv.Value) string {
	if list := p.Schema.Lookup("enum"); list.Len() > 0 && v.Kind() != jsonv.KindArray {
		if slices.ContainsFunc(list.List(), func(e jsonv.Value) bool { return jsonv.Equal(e, v) }) {
			return ""
		}
		return "one of " + evidence.FormatBrief(list)
	}
	if want := cat.FindJSONKind(p); want != "" && want != "any" && !hasKind(want, v) {
		return "a value of the type " + display.Truncate(p.Type, 40)
	}
	switch v.Kind() {
	case jsonv.KindNumber:
		if low, high := ReadBounds(p); v.Float64() < low || v.Float64() > high {
			return "a number in its range"
		}
	case jsonv.KindString:
		low, high := readLengths(p)
		if n := utf8.RuneCountInString(v.Text()); n < low || n > high {
			return fmt.Sprintf("a text of %d to %d characters", low, high)
		}
		if pattern := p.Schema.Lookup("pattern").Text(); pattern != "" {
			if re, err := regexp.Compile(pattern); err != nil || !re.MatchString(v.Text()) {
				return "a text like " + display.Truncate(pattern, 60)
			}
		}
	}
	return ""
}

// hasKind reports whether a value has a JSON type; integer counts as one.
func hasKind(want string, v jsonv.Value) bool {
	if want == "integer" {
		return v.Kind() == jsonv.KindNumber && v.Float64() == math.Trunc(v.Float64())
	}
	return v.Kind().String() == want
}
