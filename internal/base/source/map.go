package source

import (
	"reflect"

	"mcptest/internal/base/lists"
)

// Map is a map that keeps its written order.
type Map[T any] struct {
	Entries []Entry[T]
}

// Entry is one key of a Map. Pos is the position of the key.
type Entry[T any] struct {
	Key   string
	Pos   Pos
	Value T
}

// Get returns the value of a key.
func (m Map[T]) Get(key string) (T, bool) {
	for _, e := range m.Entries {
		if e.Key == key {
			return e.Value, true
		}
	}
	var none T
	return none, false
}

// Len returns the number of entries.
func (m Map[T]) Len() int { return len(m.Entries) }

// Keys returns the keys in order.
func (m Map[T]) Keys() []string {
	return lists.Map(m.Entries, func(e Entry[T]) string { return e.Key })
}

// ElemType returns T, for use with reflection.
func (m Map[T]) ElemType() reflect.Type { return reflect.TypeFor[T]() }

// DecodeNode implements Unmarshaler.
func (m *Map[T]) DecodeNode(n *Node, path string, d *Decoder) {
	fields := n.Fields
	if n.Kind != KindMap {
		d.ReportWrongType(n, path, "a map")
		for _, item := range n.Items {
			if len(item.Fields) == 1 { // meant as an entry: what refers to it is no second mistake
				fields = append(fields, item.Fields[0])
			}
		}
	}
	m.Entries = make([]Entry[T], len(fields))
	for i, f := range fields {
		e := &m.Entries[i]
		e.Key, e.Pos = f.Key.Text, f.Key.Pos
		before := len(d.found.diags)
		d.Decode(f.Value, PathKey(path, f.Key.Text), &e.Value)
		if name, rest, ok := SplitUnspaced(f.Key, f.Value); ok && len(d.found.diags) > before {
			d.found.diags[before].Pos, d.found.diags[before].Hint = f.Key.Pos, SpacedHint(name, rest)
		}
	}
}
