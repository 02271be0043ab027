package jsonv

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
)

// From turns a Go value into a Value: nil, booleans, numbers, strings,
// json.Number, Value, slices, arrays, maps (keys sorted, as they have no
// order), pointers, and all else that encoding/json can marshal. What JSON
// cannot say (channels, functions, a json.Number that is no number) is absent.
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
		elems := make([]Value, len(x))
		for i, e := range x {
			elems[i] = From(e)
		}
		return Array(elems...)
	case map[string]any:
		members := make([]Member, 0, len(x))
		for k, e := range x {
			members = append(members, Member{k, From(e)})
		}
		return sortedObject(members)
	}
	return fromReflect(x)
}

func sortedObject(members []Member) Value {
	slices.SortFunc(members, func(a, b Member) int { return compareStrings(a.Key, b.Key) })
	return Object(members...)
}

func compareStrings(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func fromReflect(x any) Value {
	if _, ok := x.(json.Marshaler); ok {
		return fromMarshal(x)
	}
	rv := reflect.ValueOf(x)
	switch rv.Kind() {
	case reflect.Bool:
		return Bool(rv.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return Int(rv.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return Value{kind: KindNumber, s: strconv.FormatUint(rv.Uint(), 10)}
	case reflect.Float32:
		v, err := Number(fmt.Sprint(rv.Interface()))
		if err != nil {
			return Float(rv.Float())
		}
		return v
	case reflect.Float64:
		return Float(rv.Float())
	case reflect.String:
		return String(rv.String())
	case reflect.Slice:
		if rv.IsNil() {
			return Null()
		}
		if rv.Type().Elem().Kind() == reflect.Uint8 {
			return fromMarshal(x) // base64, as encoding/json has it
		}
		return fromList(rv)
	case reflect.Array:
		return fromList(rv)
	case reflect.Map:
		if rv.IsNil() {
			return Null()
		}
		if rv.Type().Key().Kind() != reflect.String {
			return fromMarshal(x)
		}
		members := make([]Member, 0, rv.Len())
		for it := rv.MapRange(); it.Next(); {
			members = append(members, Member{it.Key().String(), From(it.Value().Interface())})
		}
		return sortedObject(members)
	case reflect.Pointer:
		if rv.IsNil() {
			return Null()
		}
		return From(rv.Elem().Interface())
	}
	return fromMarshal(x)
}

func fromList(rv reflect.Value) Value {
	elems := make([]Value, rv.Len())
	for i := range elems {
		elems[i] = From(rv.Index(i).Interface())
	}
	return Array(elems...)
}

func fromMarshal(x any) Value {
	data, err := json.Marshal(x)
	if err != nil {
		return Value{}
	}
	v, err := Parse(data)
	if err != nil {
		return Value{}
	}
	return v.withoutOffsets()
}

// withoutOffsets drops offsets that point into a text no one else has.
func (v Value) withoutOffsets() Value {
	v.off = 0
	if v.c == nil {
		return v
	}
	c := &container{keys: v.c.keys, vals: make([]Value, len(v.c.vals)), dup: v.c.dup}
	for i, e := range v.c.vals {
		c.vals[i] = e.withoutOffsets()
	}
	v.c = c
	return v
}

// Interface returns the value as encoding/json would with UseNumber: nil, bool,
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
