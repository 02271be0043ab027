package source

import (
	"cmp"

	yaml "go.yaml.in/yaml/v4"

	"mcptest/internal/base/display"
)

// manyFields is the number of fields from which an index is faster than a linear
// search.
const manyFields = 12

// fieldSet collects the fields of one map and indexes its keys.
type fieldSet struct {
	fields []Field
	merged map[int]bool // by field: merged by <<, so that an explicit key replaces it
	index  map[string]int
}

func (s *fieldSet) find(key string) int {
	if s.index != nil {
		if i, ok := s.index[key]; ok {
			return i
		}
		return -1
	}
	for i := range s.fields {
		if s.fields[i].Key.Text == key {
			return i
		}
	}
	return -1
}

func (s *fieldSet) add(f Field, merged bool) {
	s.fields = append(s.fields, f)
	if merged {
		if s.merged == nil {
			s.merged = map[int]bool{}
		}
		s.merged[len(s.fields)-1] = true
	}
	if s.index == nil && len(s.fields) > manyFields {
		s.index = make(map[string]int, 2*len(s.fields))
		for i := range s.fields {
			s.index[s.fields[i].Key.Text] = i
		}
	}
	if s.index != nil {
		s.index[f.Key.Text] = len(s.fields) - 1
	}
}

// convertMapping converts a map's fields. Explicit keys take precedence over merged ones
// regardless of the position of <<, and earlier merged maps over later ones, as the
// merge key's definition requires (https://yaml.org/type/merge.html).
func (c *converter) convertMapping(n *Node, y *yaml.Node, depth int, inFlow bool, e *extent) {
	set := fieldSet{fields: make([]Field, 0, len(y.Content)/2)}
	var merge *yaml.Node // the first <<
	for i := 0; i+1 < len(y.Content); i += 2 {
		yk, yv := y.Content[i], y.Content[i+1]
		if isMerge(yk) {
			c.written++
			c.tabs.visit(c, yk, inFlow)
			if merge != nil {
				d := c.errorf(yk, "duplicate-key", "merge several maps with one list: <<: [*a, *b]", "duplicate key \"<<\"")
				d.Related = []Related{{Pos: c.pos(merge), Msg: "first written here"}}
			} else {
				merge = yk
			}
			c.merge(&set, yv, depth, inFlow, e)
			continue
		}
		c.inKey = true
		key, ke := c.convertNode(yk, depth+1, inFlow)
		c.inKey = false
		c.checkKey(key, yk)
		value, ve := c.convertNode(yv, depth+1, inFlow)
		e.include(ke)
		e.include(ve)
		at := set.find(key.Text)
		switch {
		case at < 0:
			set.add(Field{Key: key, Value: value}, false)
		case set.merged[at]:
			set.fields[at] = Field{Key: key, Value: value}
			set.merged[at] = false
		default:
			d := c.errorf(yk, "duplicate-key", "", "duplicate key %q", display.Truncate(key.Text, shownText))
			d.Related = []Related{{Pos: set.fields[at].Key.Pos, Msg: "first written here"}}
		}
	}
	n.Fields = set.fields
}

func isMerge(k *yaml.Node) bool {
	return k.Kind == yaml.ScalarNode && k.Value == "<<" &&
		(k.Tag == "!!merge" || k.Tag == "" || k.Tag == "!!str" && k.Style == 0) &&
		k.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) == 0
}

// checkKey reports a key that is not text, as JSON requires. The key remains in the
// map under its spelling, so that the rest is checked.
func (c *converter) checkKey(key *Node, y *yaml.Node) {
	switch key.Kind {
	case KindString:
		return
	case KindList, KindMap:
		hint := ""
		if len(key.Fields) == 1 && key.Fields[0].Value.Kind == KindNull { // {{ name }}, as in Jinja
			hint = `a placeholder is written "${` + display.Truncate(key.Fields[0].Key.Text, shownText) + `}"`
		}
		c.errorf(y, "key", hint, "a key must be text, got a %s", key.Kind)
	case KindNull:
		hint := ""
		if key.Text != "" {
			hint = `put it in quotes: "` + y.Value + `"`
		}
		c.errorf(y, "key", hint, "a key must be text, got null")
	default:
		text := display.Truncate(y.Value, shownText)
		c.errorf(y, "key", `put it in quotes: "`+text+`"`, "a key must be text, got the %s %s", key.Kind, text)
		key.Text = y.Value
	}
	key.Kind = KindString
	key.Items, key.Fields = nil, nil
}

// merge adds the fields of a << value: a map, or a list of maps.
func (c *converter) merge(set *fieldSet, y *yaml.Node, depth int, inFlow bool, e *extent) {
	v, ve := c.convertNode(y, depth+1, inFlow)
	e.include(ve)
	from := []*Node{v}
	if v.Kind == KindList {
		from = v.Items
	}
	for _, m := range from {
		if m.Kind != KindMap {
			if m.isBroken() {
				continue
			}
			pos := m.Pos
			if m.via != nil {
				pos = m.via.pos
			}
			d := newErrorAt(pos, "<< requires a map or a list of maps, got %s", m.Describe())
			d.Code = "merge"
			c.found.add(d)
			continue
		}
		via := cmp.Or(m.via, v.via)
		for _, f := range m.Fields {
			if set.find(f.Key.Text) < 0 {
				set.add(Field{Key: c.markUsed(f.Key, via), Value: c.markUsed(f.Value, via)}, true)
			}
		}
	}
}

// markUsed records on a merged value the alias that it comes from.
func (c *converter) markUsed(n *Node, via *use) *Node {
	if via == nil || n.via != nil {
		return n
	}
	out := c.new()
	*out = *n
	out.via = &use{pos: via.pos, of: n}
	return out
}
