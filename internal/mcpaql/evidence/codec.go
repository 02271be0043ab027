package evidence

import (
	"reflect"
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/reference"
	"mcptest/internal/mcpaql/rule"
)

// The types of bundles and reports describe their JSON form by tags, which Encode and
// Reader.ReadObject follow:
//
//	member:"name"                    the member that holds the field
//	member:"group.name"              the same, inside an object that several fields share
//	member:"name,need"               it must be there
//	member:"name,omitempty"          it is not written when it is empty
//	member:"name,oneof=a|b"          its accepted texts
//	member:"name,text"               a value that must be a text
//	member:"name,$=other"            a list whose elements have "other" in place of a member "$"
//	member:"*"                       the name itself: a list of such elements is an object
//
// A jsonv.Value is a payload of any kind; if it is absent, it is not written.

type member struct {
	index             int
	group, key, other string
	need              presence
	omit, text        bool
	oneOf             []string
}

var valueType = reflect.TypeFor[jsonv.Value]()

func listMembers(t reflect.Type) (out []member) {
	for i := range t.NumField() {
		tag, tagged := t.Field(i).Tag.Lookup("member")
		if !tagged {
			continue
		}
		parts := strings.Split(tag, ",")
		m := member{
			index: i,
			key:   parts[0],
			need:  presence(slices.Contains(parts, "need")),
			omit:  slices.Contains(parts, "omitempty"),
			text:  slices.Contains(parts, "text"),
		}
		if group, key, grouped := strings.Cut(m.key, "."); grouped {
			m.group, m.key = group, key
		}
		for _, p := range parts {
			if words, ok := strings.CutPrefix(p, "oneof="); ok {
				m.oneOf = strings.Split(words, "|")
			}
			if name, ok := strings.CutPrefix(p, "$="); ok {
				m.other = name
			}
		}
		out = append(out, m)
	}
	return out
}

// isNamedList reports whether a list of this type is an object in JSON.
func isNamedList(elem reflect.Type) bool {
	return elem.Kind() == reflect.Struct && elem != valueType && elem.Field(0).Tag.Get("member") == "*"
}

// Encode returns a value in the form that the tags of its type describe.
func Encode(x any) jsonv.Value { return encode(reflect.ValueOf(x), "") }

func encode(v reflect.Value, other string) jsonv.Value {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == valueType {
			return v.Interface().(jsonv.Value)
		}
		return encodeStruct(v, other)
	case reflect.Pointer:
		if v.IsNil() {
			return jsonv.Value{}
		}
		return encode(v.Elem(), other)
	case reflect.Slice:
		var members []jsonv.Member
		list := make([]jsonv.Value, v.Len())
		for i := range list {
			e := v.Index(i)
			if isNamedList(v.Type().Elem()) {
				members = append(members, jsonv.Member{Key: e.Field(0).String(), Value: encode(e.Field(1), "")})
			} else {
				list[i] = encode(e, other)
			}
		}
		if isNamedList(v.Type().Elem()) {
			return jsonv.Object(members...)
		}
		return jsonv.Array(list...)
	case reflect.String:
		return jsonv.String(v.String())
	case reflect.Uint8:
		return jsonv.String(v.Interface().(rule.Weight).String())
	}
	return jsonv.From(v.Interface())
}

func encodeStruct(v reflect.Value, other string) jsonv.Value {
	var out, group []jsonv.Member
	members := listMembers(v.Type())
	for i, m := range members {
		f, into := v.Field(m.index), &out
		if m.group != "" {
			into = &group
		}
		if m.key == "$" {
			m.key = other
		}
		if !m.omit || !f.IsZero() && (f.Kind() != reflect.Slice || f.Len() > 0) {
			*into = append(*into, jsonv.Member{Key: m.key, Value: encode(f, m.other)})
		}
		if last := i+1 == len(members) || members[i+1].group != m.group; last && m.group != "" {
			out = append(out, jsonv.Member{Key: m.group, Value: jsonv.Object(group...)})
			group = nil
		}
	}
	return jsonv.Object(out...)
}

// ReadObject reads the members of an object into the struct that into points to. Numbers
// that are missing keep their values.
func (r *Reader) ReadObject(o jsonv.Value, at string, into any) {
	r.readObject(o, at, reflect.ValueOf(into).Elem(), "")
}

func (r *Reader) readObject(o jsonv.Value, at string, v reflect.Value, other string) {
	var group jsonv.Value
	var path string
	members := listMembers(v.Type())
	for i, m := range members {
		if m.key == "$" {
			m.key = other
		}
		if m.group == "" {
			r.readField(o, at, m, v.Field(m.index))
			continue
		}
		if i == 0 || members[i-1].group != m.group {
			group, path = r.ReadMember(o, at, m.group, jsonv.KindObject, optional)
			r.warnMisspelled(group, path, listKeys(members, m.group))
		}
		r.readField(group, path, m, v.Field(m.index))
	}
}

// listKeys lists the keys of a group; "" is the object around the groups.
func listKeys(members []member, group string) (keys []string) {
	for _, m := range members {
		switch group {
		case m.group:
			keys = append(keys, m.key)
		case "":
			keys = append(keys, m.group)
		}
	}
	return keys
}

func (r *Reader) readField(o jsonv.Value, at string, m member, f reflect.Value) {
	switch f.Kind() {
	case reflect.String:
		s := r.ReadText(o, at, m.key, m.need)
		if s != "" && m.oneOf != nil && !slices.Contains(m.oneOf, s) {
			want := display.Alternatives(m.oneOf, "or")
			r.Errorf(o.Lookup(m.key), at+"/"+m.key, "expected %s, got %s", want, QuoteStart(s, 40))
		}
		f.SetString(s)
	case reflect.Int:
		f.SetInt(int64(r.ReadInteger(o, at, m.key, int(f.Int()), m.need)))
	case reflect.Bool:
		v, _ := r.ReadMember(o, at, m.key, jsonv.KindBool, optional)
		f.SetBool(v.Bool())
	case reflect.Uint8:
		weight := rule.Fail
		if r.ReadText(o, at, m.key, m.need) == rule.Warn.String() {
			weight = rule.Warn
		}
		f.Set(reflect.ValueOf(weight))
	case reflect.Pointer:
		if v, path := r.ReadMember(o, at, m.key, jsonv.KindObject, m.need); !v.IsAbsent() {
			f.Set(reflect.New(f.Type().Elem()))
			r.readObject(v, path, f.Elem(), "")
		}
	case reflect.Slice:
		r.list(o, at, m, f)
	case reflect.Struct:
		switch {
		case m.text:
			v, _ := r.ReadMember(o, at, m.key, jsonv.KindString, m.need)
			f.Set(reflect.ValueOf(v))
		case f.Type() == valueType:
			f.Set(reflect.ValueOf(o.Lookup(m.key)))
		default:
			if v, path := r.ReadMember(o, at, m.key, jsonv.KindObject, m.need); !v.IsAbsent() {
				r.readObject(v, path, f, "")
			}
		}
	}
}

func (r *Reader) list(o jsonv.Value, at string, m member, f reflect.Value) {
	elem := f.Type().Elem()
	if isNamedList(elem) {
		v, path := r.ReadMember(o, at, m.key, jsonv.KindObject, m.need)
		for _, pair := range reference.ListMembers(v) {
			e := reflect.New(elem).Elem()
			e.Field(0).SetString(pair.Key)
			r.readField(v, path, member{key: pair.Key}, e.Field(1))
			f.Set(reflect.Append(f, e))
		}
		return
	}
	v, path := r.ReadMember(o, at, m.key, jsonv.KindArray, m.need)
	if elem == valueType {
		f.Set(reflect.ValueOf(v.List()))
		return
	}
	r.readElements(v, path, f, m.other)
}

func (r *Reader) readElements(list jsonv.Value, at string, f reflect.Value, other string) {
	elem := f.Type().Elem()
	kind := jsonv.KindObject
	switch elem.Kind() {
	case reflect.String:
		kind = jsonv.KindString
	case reflect.Slice:
		kind = jsonv.KindArray
	}
	r.VisitElements(list, at, kind, func(v jsonv.Value, at string) {
		e := reflect.New(elem).Elem()
		switch kind {
		case jsonv.KindString:
			e.SetString(v.Text())
		case jsonv.KindArray:
			r.readElements(v, at, e, "")
		default:
			r.readObject(v, at, e, other)
		}
		f.Set(reflect.Append(f, e))
	})
}
