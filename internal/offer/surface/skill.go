package surface

import (
	"cmp"
	"slices"

	"mcptest/internal/base/jsonv"
)

// selectSkill is what a surface has of the entry of a skill: its frontmatter and its files. How
// long an entry may be kept, and the order of files, are no part of what is offered.
func selectSkill(def jsonv.Value) jsonv.Value {
	if def.Kind() != jsonv.KindObject {
		return def
	}
	out := jsonv.ObjectOf("uri", def.Lookup("uri"), "frontmatter", def.Lookup("frontmatter").OrNull())
	resources := def.Lookup("resources")
	if resources.Kind() != jsonv.KindArray {
		return out.With("resources", resources.OrNull())
	}
	var files []jsonv.Value
	for _, f := range resources.Elems() {
		one := jsonv.Object()
		for _, key := range []string{"uri", "digest", "size"} {
			one = one.With(key, f.Lookup(key).OrNull())
		}
		files = append(files, one)
	}
	slices.SortStableFunc(files, func(a, b jsonv.Value) int {
		return cmp.Or(cmp.Compare(a.Lookup("uri").Text(), b.Lookup("uri").Text()), cmp.Compare(a.String(), b.String()))
	})
	return out.With("resources", jsonv.Array(files...))
}
