package gen

import (
	"reflect"
	"regexp"
	"strings"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
	"mcptest/internal/base/source"
	"mcptest/internal/client/identity"
)

var (
	durationType    = reflect.TypeFor[time.Duration]()
	nodeType        = reflect.TypeFor[source.Node]()
	unmarshalerType = reflect.TypeFor[source.Unmarshaler]()
)

// typ describes the values that the decoder takes for a Go type. expanded says
// whether placeholders are expanded there; at names the key for errors.
func (g *generator) typ(t reflect.Type, expanded bool, at string) jsonv.Value {
	switch {
	case t == durationType:
		return ref("duration")
	case strings.HasPrefix(t.Name(), "list["): // of tests: neither it nor a test can be a placeholder
		return g.json(entries(g.nameOf(entryType(t))))
	case t.Kind() == reflect.Pointer:
		return g.pointer(t.Elem(), expanded, at)
	case reflect.PointerTo(t).Implements(unmarshalerType):
		return g.union(t, expanded, at)
	}
	var v jsonv.Value
	switch t.Kind() {
	case reflect.String:
		return object(pair{"type", "string"})
	case reflect.Bool:
		v = object(pair{"type", "boolean"})
	case reflect.Int:
		v = object(pair{"type", "integer"})
	case reflect.Float64:
		v = object(pair{"type", "number"})
	case reflect.Slice:
		v = object(pair{"type", "array"}, pair{"items", g.element(t.Elem(), expanded, at)})
	case reflect.Struct:
		return g.define(g.nameOf(t), t, expanded)
	default:
		g.errorf("the key %s has a type that the schema knows nothing of: %v", at, t)
		return jsonv.Object()
	}
	if expanded {
		v = orWhole(v)
	}
	return v
}

// titledType is a struct of the language whose keys are a section of the reference.
type titledType struct{ def, title, rules, goName string }

// titledTypes returns the structs of fields with a tag title, beginning with those of the lists.
func (g *generator) titledTypes() (out []titledType) {
	queue := []reflect.Type{g.types["suite"]}
	for len(queue) > 0 {
		t := queue[0]
		queue = queue[1:]
		for _, f := range source.Fields(t) {
			title := f.Tag.Get("title")
			if title == "" {
				continue
			}
			of := f.Type
			if _, tests := reflect.Zero(of).Interface().(interface{ EntryType() reflect.Type }); tests {
				of = entryType(of)
			} else if of.Kind() == reflect.Slice {
				of = of.Elem().Elem()
			} else if of.Kind() == reflect.Pointer {
				of = of.Elem()
			}
			out = append(out, titledType{g.nameOf(of), title, f.Tag.Get("rules"), of.Name()})
			queue = append(queue, of)
		}
	}
	return out
}

// entryType returns the type of the tests of a list, or of the entries of another one.
func entryType(list reflect.Type) reflect.Type {
	if tests, ok := reflect.Zero(list).Interface().(interface{ EntryType() reflect.Type }); ok {
		return tests.EntryType()
	}
	return list.Elem().Elem()
}

// pointer describes a key that null leaves out. Types that decode themselves
// get to see null, and refuse it.
func (g *generator) pointer(t reflect.Type, expanded bool, at string) jsonv.Value {
	v := g.typ(t, expanded, at)
	switch {
	case t == nodeType:
		g.errorf("the key %s takes any value: say in the table of facts what it means", at)
		return v
	case reflect.PointerTo(t).Implements(unmarshalerType) || t == durationType: // the definition allows null
		return v
	case t.Kind() == reflect.Struct:
		name := g.nameOf(t)
		g.defs[name] = orNull(g.defs[name])
		return v
	}
	return orNull(v)
}

// element describes an entry of a list or map, which may not be null.
func (g *generator) element(t reflect.Type, expanded bool, at string) jsonv.Value {
	if t.Kind() == reflect.Pointer && t.Elem() != nodeType {
		t = t.Elem()
	}
	return g.typ(t, expanded, at)
}

// wordStart finds where a word of a Go name begins.
var wordStart = regexp.MustCompile(`([a-z])([A-Z])`)

// nameOf is the name of a struct's definition: OAuth is oauth, FlowStep is
// flow-step.
func (g *generator) nameOf(t reflect.Type) string {
	if name, ok := g.names[t]; ok {
		return name
	}
	if name, ok := defNames[t.Name()]; ok {
		return name
	}
	return strings.ToLower(wordStart.ReplaceAllString(t.Name(), "$1-$2"))
}

// union describes a type that decodes itself.
func (g *generator) union(t reflect.Type, expanded bool, at string) jsonv.Value {
	name := t.Name()
	if i := strings.IndexByte(name, '['); i >= 0 { // of a generic type
		name = name[:i]
	}
	switch name {
	case "Map":
		elem, ok := reflect.Zero(t).Interface().(interface{ ElemType() reflect.Type })
		if !ok {
			break
		}
		v := object(pair{"type", "object"}, pair{"additionalProperties", g.element(elem.ElemType(), expanded, at)})
		if expanded {
			v = orWhole(v)
		}
		return v
	case "Replies":
		one := g.element(t.Elem(), expanded, at)
		return object(pair{"anyOf", jsonv.Array(one, object(pair{"type", "array"}, pair{"minItems", 1}, pair{"items", one}))})
	case "Answers":
		list, _ := t.FieldByName("List")
		one := g.typ(list.Type.Elem(), expanded, at)
		return object(pair{"anyOf", jsonv.Array(one, object(pair{"type", "array"}, pair{"minItems", 1}, pair{"items", one}))})
	case "Step", "Respond", "ClientCapabilities":
		return g.define(g.nameOf(t), t, expanded)
	case "Client":
		known := object(pair{"enum", jsonv.Array(lists.Map(identity.Names(), jsonv.String)...)})
		placeholder := g.json(`{"type":"string","pattern":"\\$\\{[A-Za-z_]"}`)
		return object(pair{"anyOf", jsonv.Array(known, placeholder, g.define("client", t, expanded))})
	case "Hook":
		if _, ok := g.defs["hook"]; !ok {
			g.defs["hook"] = merge(g.structure("context-hook", g.types["context-hook"], expanded),
				g.json(`{"type":["string","object"],"minLength":1,"pattern":"\\S"}`))
		}
		return ref("hook")
	case "HookList":
		one := g.union(t.Elem().Elem(), expanded, at)
		return object(pair{"anyOf", jsonv.Array(one, object(pair{"type", "array"}, pair{"items", one}))})
	case "Header":
		v := g.structure("header-env", g.types["header-env"], expanded)
		return merge(v, g.json(`{"type":["string","number","boolean","object"],"pattern":"^[^\\r\\n\\u0000]*$"}`))
	case "Capture":
		return object(pair{"anyOf", jsonv.Array(ref("target"), g.define("capture", g.types["capture"], expanded))})
	case "variableDecl":
		v := g.structure("variable-env", g.types["variable-env"], false)
		return merge(v, g.json(`{"type":["string","number","boolean","null","object"]}`))
	case "ElicitationAnswer":
		return g.define("elicitation-answer", g.types["elicitation-answer"], expanded)
	case "SamplingAnswer":
		return g.define("sampling-answer", g.types["sampling-text"], expanded)
	}
	if text, ok := unions[name]; ok {
		return g.json(text)
	}
	g.errorf("the type %v of the key %s decodes itself: say in the table of unions what it takes", t, at)
	return jsonv.Object()
}
