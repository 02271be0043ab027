package jsonschema

import (
	"fmt"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"mcptest/internal/base/jsonv"
)

// namePlaces are the locations of the objects with a name, the next one first, by the
// name and by what errors about such objects have in common.
type namePlaces map[string]map[string][][]string

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
	id := fmt.Sprintf("%q %d %q", e.SchemaURL, len(e.InstanceLocation), around)
	if p[id] == nil {
		p[id] = map[string][][]string{}
		addNames(p[id], root, nil, len(e.InstanceLocation), around)
	}
	if all := p[id][k.Property]; len(all) > 0 {
		e.InstanceLocation, p[id][k.Property] = all[0], append(all[1:], all[0])
	}
}

// addNames adds the names of the objects at a depth below v, which is at a location, and
// within another one.
func addNames(names map[string][][]string, v jsonv.Value, at []string, depth int, within []string) {
	for token, e := range children(v) {
		token = maskSurrogates(token)
		if depth == 0 && v.Kind() == jsonv.KindObject {
			names[token] = append(names[token], at)
		} else if depth > 0 && (len(within) == 0 || within[0] == token) {
			addNames(names, e, append(slices.Clip(at), token), depth-1, within[min(1, len(within)):])
		}
	}
}
