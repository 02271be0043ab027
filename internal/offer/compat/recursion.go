package compat

import (
	"slices"
	"strconv"
	"strings"

	"mcptest/internal/base/jsonv"
)

// detectRecursiveOutputs finds outputSchemas that apply themselves to the same value again. Ajv
// compiles them, and overflows the stack with every result.
func detectRecursiveOutputs(dialect func(schema jsonv.Value) int) func(List) []place {
	return func(l List) []place {
		return keepFaulty(l.selectSchemas("outputSchema"), func(p place) string {
			if p.value.Kind() != jsonv.KindObject {
				return ""
			}
			a := newAjv(dialect(p.value))
			if a.compile(p.value) != "" {
				return "" // another rule
			}
			return a.findEndless(a.root, a.root, nil)
		})
	}
}

// draft07 is the dialect of version 1 of the SDK.
func draft07(jsonv.Value) int { return 7 }

// findDialect returns that of version 2.
func findDialect(schema jsonv.Value) int {
	text := schema.Lookup("$schema").Text()
	if known := ajvDialects[strings.TrimSuffix(uriScheme().ReplaceAllString(text, ""), "#")]; known != 0 {
		return known
	}
	return 2020
}

// findEndless returns how a schema comes back to itself with the same value, "" if it does not for
// every value. function is the schema whose compiled function it is a part of, and above are the
// schemas that are being applied.
func (a *ajv) findEndless(p, function ajvPart, above []ajvPlace) string {
	if p.schema.Kind() != jsonv.KindObject || !a.hasRules(p.schema) {
		return ""
	}
	if slices.Contains(above, p.ajvPlace) {
		return "#" + p.pointer + " is applied again to the same value"
	}
	above = append(above[:len(above):len(above)], p.ajvPlace)
	if ref := p.schema.Lookup("$ref"); ref.Kind() == jsonv.KindString {
		if to, ok := a.resolve(p.doc, a.join(p.base, ref.Text()), 0); ok {
			if why := a.findEndless(to, to, above); why != "" {
				return why
			}
		}
	}
	for _, word := range []string{"$dynamicRef", "$recursiveRef"} {
		ref := p.schema.Lookup(word)
		if a.later && ref.Kind() == jsonv.KindString && a.meansItself(ref.Text(), function) {
			if why := a.findEndless(function, function, above); why != "" {
				return why
			}
		}
	}
	for _, sub := range a.listAlways(p) {
		if why := a.findEndless(sub, function, above); why != "" {
			return why
		}
	}
	return ""
}

// meansItself reports whether Ajv takes a dynamic reference for the function that it is in: it does
// for one to an anchor that it has not come across.
func (a *ajv) meansItself(ref string, function ajvPart) bool {
	anchor := strings.TrimPrefix(ref, "#")
	if anchor == "" || function.schema.Lookup("$dynamicAnchor").Text() == anchor {
		return true
	}
	_, elsewhere := a.parts[function.doc.base+"\x00#"+anchor]
	_, named := a.parts[a.join(function.base, "#"+anchor)]
	return !elsewhere && !named
}

// listAlways returns the subschemas that Ajv applies to each value.
func (a *ajv) listAlways(p ajvPart) (out []ajvPart) {
	first := func(key string, n int) {
		for i := range min(n, p.schema.Lookup(key).Len()) {
			out = append(out, p.findChild(key).findChild(strconv.Itoa(i)))
		}
	}
	alternatives := p.schema.Lookup("anyOf").Len()
	if !a.later { // it stops at the first that fits
		alternatives = 1
		if slices.ContainsFunc(p.schema.Lookup("anyOf").List(), a.isTrivial) {
			alternatives = 0
		}
	}
	first("allOf", p.schema.Lookup("allOf").Len())
	first("anyOf", alternatives)
	first("oneOf", 2)
	for _, key := range []string{"not", "if"} {
		if !p.schema.Lookup(key).IsAbsent() && a.isCompiled(p.schema, key) {
			out = append(out, p.findChild(key))
		}
	}
	condition := p.schema.Lookup("if")
	switch {
	case condition.IsAbsent():
	case a.isTrivial(condition):
		out = append(out, p.findChild("then"))
	case condition.Kind() == jsonv.KindBool, refusesObjects(condition):
		out = append(out, p.findChild("else"))
	}
	return slices.DeleteFunc(out, func(sub ajvPart) bool { return sub.schema.IsAbsent() })
}

// refusesObjects reports whether a schema refuses every object, which structured content is.
func refusesObjects(schema jsonv.Value) bool {
	types := schema.Lookup("type")
	switch types.Kind() {
	case jsonv.KindString:
		return types.Text() != "object"
	case jsonv.KindArray:
		return !slices.Contains(types.Texts(), "object")
	}
	return false
}
