package plan

import (
	"slices"
	"strings"

	"mcptest/internal/jsonv"
	"mcptest/internal/source"
	"mcptest/internal/suite/interpolate"
)

// rowCheck finds mistakes caused by a row's values. It only compiles the parts of
// the test that use the row.
type rowCheck struct {
	t *template
	c compiler // a copy with a different decoder
	// needs are the members of the row that args and params use.
	needs []interpolate.Placeholder
}

func (t *template) newRowCheck() *rowCheck {
	r := &rowCheck{t: t, c: *t.c}
	for _, key := range t.varies.call {
		n := t.entry.Node.Get(key)
		if key != "args" && key != "params" || interpolate.Whole(n) {
			r.needs = nil // the type of a value matters
			break
		}
		r.needs = append(r.needs, interpolate.Placeholders(n, "case.")...)
	}
	if t.varies.all {
		t.meta = make([]rowMeta, t.rows.Len())
	}
	return r
}

// row checks one row and reports mistakes to dec. The template checked most of the
// first row.
func (r *rowCheck) row(i int, v jsonv.Value, dec *source.Decoder) {
	t := r.t
	r.c.dec = dec
	if t.varies.name {
		r.name(v)
	}
	if t.varies.all {
		b := r.c.build(t.entry, v)
		t.meta[i] = t.sets.add(b)
		return
	}
	if i == 0 {
		return
	}
	if len(t.varies.call) > 0 && (r.needs == nil || lacks(r.needs, v)) {
		call := t.test.Call
		t.entry.call(&call, t.varies.call, interpolate.Bindings{Case: v}, dec)
	}
	if t.varies.expect && !t.expect.fits(v) {
		t.expect.tree(&r.c, v)
	}
}

// lacks reports whether a row lacks a required value.
func lacks(needs []interpolate.Placeholder, row jsonv.Value) bool {
	return slices.ContainsFunc(needs, func(p interpolate.Placeholder) bool {
		_, ok := p.Lookup(row)
		return !ok
	})
}

func (r *rowCheck) name(v jsonv.Value) {
	e, path := r.t.entry, r.t.entry.Path+".name"
	n := e.Scope.Expand(e.Node.Get("name"), path, interpolate.Bindings{Case: v}, r.c.dec)
	if text, ok := n.AsText(); !ok {
		r.c.dec.WrongType(n, path, "text")
	} else if strings.TrimSpace(text) == "" {
		r.c.dec.Errorf(n, path, "the name is empty")
	}
}

// add returns the data for selecting a row's case. Each distinct list is stored
// once.
func (s *metaSets) add(b built) rowMeta {
	if s.known == nil {
		s.known = map[string]uint32{}
	}
	m := rowMeta{only: b.test.Only}
	var key strings.Builder
	for _, sv := range b.servers {
		key.WriteString(sv.Name + "\x00")
	}
	var isNew bool
	if m.servers, isNew = s.index("s"+key.String(), len(s.servers)); isNew {
		s.servers = append(s.servers, b.servers)
	}
	if m.tags, isNew = s.index("t"+strings.Join(b.out.Tags, "\x00"), len(s.tags)); isNew {
		s.tags = append(s.tags, b.out.Tags)
	}
	return m
}

func (s *metaSets) index(key string, next int) (at uint32, isNew bool) {
	if at, known := s.known[key]; known {
		return at, false
	}
	s.known[key] = uint32(next)
	return uint32(next), true
}
