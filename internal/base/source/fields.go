package source

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/lists"
)

// A FieldInfo describes one key of a struct that Decode decodes, for generators of
// schemas and reference pages.
type FieldInfo struct {
	Name     string // the key
	Required bool
	Type     reflect.Type
	GoName   string
	Tag      reflect.StructTag
	Enum     []string // of the tag enum:"a|b", nil without one
}

// Fields returns the keys of a struct type (or a pointer to one) in the order of its
// fields, including those of inlined structs. It returns nil for other types.
func Fields(t reflect.Type) []FieldInfo {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	return lists.Map(newLayout(t).fields, func(f layoutField) FieldInfo { return f.FieldInfo })
}

// layout holds the tags of a struct type, parsed once per Decoder.
type layout struct {
	fields []layoutField
	byName map[string]int
	names  []string
	pos    [][]int // fields that take the node's position
}

type layoutField struct {
	FieldInfo
	index   []int
	limits  string // of the tag range
	example string
	text    bool // a string field
}

func (d *Decoder) findLayout(t reflect.Type) *layout {
	if l := d.layout[t]; l != nil {
		return l
	}
	if d.layout == nil {
		d.layout = map[reflect.Type]*layout{}
	}
	l := newLayout(t)
	d.layout[t] = l
	return l
}

func newLayout(t reflect.Type) *layout {
	l := &layout{byName: map[string]int{}}
	l.add(t, nil)
	return l
}

func (l *layout) add(t reflect.Type, index []int) {
	for i := range t.NumField() {
		sf := t.Field(i)
		at := append(slices.Clip(index), i)
		if sf.Name == "Pos" && sf.Type == posType {
			l.pos = append(l.pos, at)
			continue
		}
		tag, tagged := sf.Tag.Lookup("yaml")
		if !tagged || tag == "-" || !sf.IsExported() && !sf.Anonymous {
			continue
		}
		name, rest, _ := strings.Cut(tag, ",")
		options := strings.Split(rest, ",")
		if slices.Contains(options, "inline") && sf.Type.Kind() == reflect.Struct {
			l.add(sf.Type, at)
			continue
		}
		if _, taken := l.byName[name]; taken || name == "" {
			continue // the outer field wins, as in Go
		}
		f := layoutField{index: at, limits: sf.Tag.Get("range"), example: sf.Tag.Get("example")}
		f.FieldInfo = FieldInfo{Name: name, Required: slices.Contains(options, "required"), Type: sf.Type, GoName: sf.Name, Tag: sf.Tag}
		f.text = sf.Type.Kind() == reflect.String && !reflect.PointerTo(sf.Type).Implements(unmarshalerType)
		if enum := sf.Tag.Get("enum"); enum != "" {
			f.Enum = strings.Split(enum, "|")
		}
		l.byName[name] = len(l.fields)
		l.fields = append(l.fields, f)
		l.names = append(l.names, name)
	}
}

// PathKey appends a map key to a document path: tools + name is tools.name. A key
// that is not a plain word is written in brackets and quotes.
func PathKey(path, key string) string {
	if !isPlainKey(key) {
		return path + "[" + quote(key) + "]"
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// PathIndex appends a list index, counted from 0, to a document path.
func PathIndex(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

func isPlainKey(key string) bool {
	if key == "" {
		return false
	}
	for _, r := range key {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-', r == '$', r == '/', r > 0x7F && !display.IsHidden(r):
		default:
			return false
		}
	}
	return true
}
