package plan

import (
	"slices"

	"mcptest/internal/base/source"
	"mcptest/internal/spec/suite/interpolate"
)

const unusedExpect = "expect is a column here, and nothing uses it"

// compileRowAsserts takes the assertions of single rows out of inline cases: `expect:` of a
// row is a list of maps that no ${case.expect} uses. Otherwise it is a column like all
// others. It returns the test without them, and the assertions by row.
func (e entry) compileRowAsserts(d *source.Decoder) (entry, map[int]*source.Node) {
	list := e.Node.Get("cases")
	if list.Kind != source.KindList || usesExpect(e) {
		return e, nil
	}
	found := map[int]*source.Node{}
	rows := *list
	rows.Items = slices.Clone(list.Items)
	for i, row := range list.Items {
		own := row.Get("expect")
		switch {
		case own == nil:
		case slices.ContainsFunc(own.Items, func(n *source.Node) bool { return n.Kind == source.KindMap }):
			found[i], rows.Items[i] = own, setKey(row, "expect", nil)
		default:
			d.Warnf(own, source.PathIndex(e.Path+".cases", i)+".expect", unusedExpect).Hint = "assertions of a row are a list: expect: [{target: …, matcher: …}]"
		}
	}
	e.Node = setKey(e.Node, "cases", &rows)
	return e, found
}

// usesExpect reports whether a test uses the column expect of its rows.
func usesExpect(e entry) bool {
	return slices.ContainsFunc(interpolate.Placeholders(e.Node, "case."), func(p interpolate.Placeholder) bool { return cutFirstName(p.Member) == "expect" })
}

// makeEntry returns the test of a row, with the row's own assertions after those of the test.
func (t *template) makeEntry(row int) entry {
	own, e := t.asserts[row], t.entry
	if own == nil {
		return e
	}
	if all := e.Node.Get("expect"); all != nil && all.Kind == source.KindMap {
		own = setKey(all, "assertions", appendList(all.Get("assertions"), own))
	} else {
		own = appendList(all, own)
	}
	e.Node = setKey(e.Node, "expect", own)
	return e
}

// appendList appends a list to a value that should be a list; if it is not, compiling it
// reports that.
func appendList(list, more *source.Node) *source.Node {
	if list == nil || list.Kind == source.KindNull {
		return more
	}
	out := *more
	out.Items = slices.Concat([]*source.Node{list}, more.Items)
	if list.Kind == source.KindList {
		out.Items = slices.Concat(list.Items, more.Items)
	}
	return &out
}

// setKey returns a map with another value of a key; nil removes the key.
func setKey(n *source.Node, key string, v *source.Node) *source.Node {
	out := *n
	out.Fields = slices.DeleteFunc(slices.Clone(n.Fields), func(f source.Field) bool { return f.Key.Text == key })
	if v != nil {
		out.Fields = append(out.Fields, source.Field{
			Key:   &source.Node{Pos: v.Pos, Kind: source.KindString, Text: key},
			Value: v,
		})
	}
	return &out
}
