package coverage

import (
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
)

// argument is one that the input schema of a tool names.
type argument struct {
	path   string // filter.price, tags[].name
	nested bool
	values []jsonv.Value // that it enumerates
}

// maxPaths bounds the arguments of one tool that are counted or kept.
const maxPaths = 2000

// elements marks the elements of a list in a path.
const elements = "[]"

// findOwner returns the path of the argument that the elements at a path belong to.
func findOwner(path string) string {
	for strings.HasSuffix(path, elements) {
		path = strings.TrimSuffix(path, elements)
	}
	return path
}

// listArguments returns the arguments that a schema names. A schema within itself is not
// followed again.
func listArguments(schema jsonv.Value) []argument {
	r := schemaReader{root: schema, index: map[string]int{}, seen: map[[2]string]bool{}}
	r.read("", schema, []string{"#"})
	return r.list
}

// schemaReader reads an input schema.
type schemaReader struct {
	root  jsonv.Value
	list  []argument
	index map[string]int // in list, by path
	seen  map[[2]string]bool
}

// read adds what a schema says about a path. refs are the references that led to it.
func (r *schemaReader) read(path string, schema jsonv.Value, refs []string) {
	if schema.Kind() != jsonv.KindObject {
		return
	}
	ref := schema.Lookup("$ref").Text()
	if strings.HasPrefix(ref, "#") && !slices.Contains(refs, ref) && !r.seen[[2]string{path, ref}] {
		r.seen[[2]string{path, ref}] = true
		if to, ok := r.root.Pointer(ref[1:]); ok {
			r.read(path, to, append(slices.Clip(refs), ref))
		}
	}
	r.addValues(path, schema.Lookup("enum").List())
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		for _, one := range schema.Lookup(key).Elems() {
			if v, ok := one.Get("const"); ok && key != "allOf" {
				r.addValues(path, []jsonv.Value{v})
			}
			r.read(path, one, refs)
		}
	}
	for name, prop := range schema.Lookup("properties").Members() {
		if at := jsonv.JoinKey(path, name); r.add(at, path != "") {
			r.read(at, prop, refs)
		}
	}
	items := schema.Lookup("items")
	for _, one := range slices.Concat(items.List(), schema.Lookup("prefixItems").List(), []jsonv.Value{items}) {
		r.read(path+elements, one, refs)
	}
}

// add adds an argument, and returns false if there are too many.
func (r *schemaReader) add(path string, nested bool) bool {
	if _, ok := r.index[path]; !ok {
		if len(r.list) == maxPaths {
			return false
		}
		r.index[path] = len(r.list)
		r.list = append(r.list, argument{path: path, nested: nested})
	}
	return true
}

// addValues adds values of the argument at a path.
func (r *schemaReader) addValues(path string, values []jsonv.Value) {
	if i, ok := r.index[findOwner(path)]; ok {
		r.list[i].values = append(r.list[i].values, values...)
	}
}
