package jsonv

import (
	"encoding/json"
	"maps"
	"slices"
)

// From converts a Go value to a Value: nil, booleans, numbers, strings, json.Number,
// Value, maps (with sorted keys, as they have no order), and any other value that
// encoding/json can marshal. A value that cannot be converted (a channel, a function,
// an invalid json.Number) becomes absent.
func From(x any) Value {
	switch x := x.(type) {
	case nil:
		return Null()
	case Value:
		return x
	case bool:
		return Bool(x)
	case string:
		return String(x)
	case int:
		return Int(int64(x))
	case int64:
		return Int(x)
	case float64:
		return Float(x)
	case json.Number:
		v, err := Number(string(x))
		if err != nil {
			return Value{}
		}
		return v
	case []any:
		return List(x, From)
	case map[string]any:
		members := make([]Member, 0, len(x))
		for _, k := range slices.Sorted(maps.Keys(x)) {
			members = append(members, Member{k, From(x[k])})
		}
		return Object(members...)
	}
	return convertByMarshal(x)
}

// List returns an array of values made from the elements of a list.
func List[T any](list []T, of func(T) Value) Value {
	elems := make([]Value, len(list))
	for i, e := range list {
		elems[i] = of(e)
	}
	return Array(elems...)
}

// ObjectOf returns an object built from alternating keys and values, with the values
// converted by [From]. Absent values are omitted.
func ObjectOf(pairs ...any) Value {
	members := make([]Member, 0, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		members = append(members, Member{pairs[i].(string), From(pairs[i+1])})
	}
	return Object(members...)
}

func convertByMarshal(x any) Value {
	data, err := json.Marshal(x)
	if err != nil {
		return Value{}
	}
	v, err := Parse(data)
	if err != nil {
		return Value{}
	}
	return v.dropOffsets()
}

// dropOffsets removes offsets that refer to a text the caller does not have.
func (v Value) dropOffsets() Value {
	v.off = 0
	if v.c == nil {
		return v
	}
	c := &container{keys: v.c.keys, vals: make([]Value, len(v.c.vals)), dup: v.c.dup}
	for i, e := range v.c.vals {
		c.vals[i] = e.dropOffsets()
	}
	v.c = c
	return v
}

// Interface returns the value as encoding/json with UseNumber would: nil, bool,
// string, json.Number, []any, map[string]any. An absent value is nil.
func (v Value) Interface() any {
	switch v.kind {
	case KindBool:
		return v.b
	case KindNumber:
		return json.Number(v.s)
	case KindString:
		return v.s
	case KindArray:
		out := make([]any, v.c.len())
		for i, e := range v.Elems() {
			out[i] = e.Interface()
		}
		return out
	case KindObject:
		out := make(map[string]any, v.c.len())
		for k, e := range v.Members() {
			out[k] = e.Interface()
		}
		return out
	}
	return nil
}

// MarshalJSON implements json.Marshaler.
func (v Value) MarshalJSON() ([]byte, error) { return v.Append(nil), nil }

// UnmarshalJSON implements json.Unmarshaler.
func (v *Value) UnmarshalJSON(data []byte) error {
	parsed, err := Parse(data)
	if err != nil {
		return err
	}
	*v = parsed
	return nil
}
