package jsonschema

import (
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"mcptest/internal/base/jsonv"
)

// namePlaces are the locations of the objects with a name that does not fit, the next one
// first, by what identifies the errors about it.
type namePlaces map[string][][]string

// repair sets the locations of names that do not fit. The library overwrites them while
// it visits other values: only their length is right, and the location of the error
// around them. There is an error for each object there, so each gets one of the objects.
func (p namePlaces) repair(e *jsonschema.ValidationError, root jsonv.Value, around []string) {
	k, ok := e.ErrorKind.(*kind.PropertyNames)
	if !ok {
		for _, c := range e.Causes {
			p.repair(c, root, e.InstanceLocation)
		}
		return
	}
	depth := len(e.InstanceLocation)
	id := fmt.Sprintf("%q %q %d %q", e.SchemaURL, k.Property, depth, around)
	if _, known := p[id]; !known {
		p[id] = objectsWith(root, k.Property, depth, around)
	}
	if all := p[id]; len(all) > 0 {
		e.InstanceLocation, p[id] = all[0], append(all[1:], all[0])
	}
}

// objectsWith returns the locations of the objects with a member, at a depth below v and
// within another location.
func objectsWith(v jsonv.Value, name string, depth int, within []string) (out [][]string) {
	for token, e := range children(v) {
		token = maskSurrogates(token)
		if depth == 0 && token == name && v.Kind() == jsonv.KindObject {
			return [][]string{{}}
		} else if depth > 0 && (len(within) == 0 || within[0] == token) {
			for _, below := range objectsWith(e, name, depth-1, within[min(1, len(within)):]) {
				out = append(out, append([]string{token}, below...))
			}
		}
	}
	return out
}
