package gen

import (
	"bytes"

	"mcptest/internal/base/jsonv"
)

// pair is one member of an object under construction.
type pair struct {
	key   string
	value any // a jsonv.Value or what jsonv.From takes
}

// object makes an object of its members, in order; absent values are left out.
func object(pairs ...pair) jsonv.Value {
	members := make([]jsonv.Member, 0, len(pairs))
	for _, p := range pairs {
		v, ok := p.value.(jsonv.Value)
		if !ok {
			v = jsonv.From(p.value)
		}
		if v.IsAbsent() {
			continue
		}
		members = append(members, jsonv.Member{Key: p.key, Value: v})
	}
	return jsonv.Object(members...)
}

// lineWidth is how long a line of the written schema may get before a value is
// spread over several.
const lineWidth = 120

// pretty writes a value as JSON for people: what fits on one line stays there.
func pretty(v jsonv.Value) []byte {
	return append(appendPretty(nil, v, 0, 0), '\n')
}

// appendPretty gets the indentation of the value's line and how much of that
// line is taken already.
func appendPretty(dst []byte, v jsonv.Value, indent, taken int) []byte {
	compact := spaced(v)
	if taken+len(compact) <= lineWidth || v.Len() == 0 || v.Kind() != jsonv.KindObject && v.Kind() != jsonv.KindArray {
		return append(dst, compact...)
	}
	line := append([]byte{'\n'}, bytes.Repeat([]byte("  "), indent+1)...)
	first := true
	next := func(open byte) {
		if first {
			dst, first = append(dst, open), false
		} else {
			dst = append(dst, ',')
		}
		dst = append(dst, line...)
	}
	if v.Kind() == jsonv.KindArray {
		for _, item := range v.Elems() {
			next('[')
			dst = appendPretty(dst, item, indent+1, 2*(indent+1))
		}
		return append(append(dst, line[:len(line)-2]...), ']')
	}
	for key, val := range v.Members() {
		next('{')
		at := len(dst)
		dst = append(jsonv.AppendString(dst, key), ": "...)
		dst = appendPretty(dst, val, indent+1, 2*(indent+1)+len(dst)-at)
	}
	return append(append(dst, line[:len(line)-2]...), '}')
}

// spaced is a value on one line, with a space behind every colon and comma.
func spaced(v jsonv.Value) []byte {
	var dst []byte
	switch v.Kind() {
	case jsonv.KindArray:
		dst = append(dst, '[')
		for i, item := range v.Elems() {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = append(dst, spaced(item)...)
		}
		return append(dst, ']')
	case jsonv.KindObject:
		dst = append(dst, '{')
		for key, val := range v.Members() {
			if len(dst) > 1 {
				dst = append(dst, ", "...)
			}
			dst = append(jsonv.AppendString(dst, key), ": "...)
			dst = append(dst, spaced(val)...)
		}
		return append(dst, '}')
	}
	return v.Append(nil)
}
