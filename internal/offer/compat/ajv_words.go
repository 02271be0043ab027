package compat

import (
	"slices"
	"strconv"
	"strings"

	"mcptest/internal/base/jsonv"
)

// use compiles a schema with everything that it uses.
func (a *ajv) use(p ajvPart) {
	s := p.schema
	if s.Kind() == jsonv.KindNull {
		a.fail("a schema is null")
	}
	if s.Kind() != jsonv.KindObject || a.done[p.ajvPlace] || a.fault != "" || !a.hasRules(s) {
		return
	}
	a.done[p.ajvPlace] = true
	if id := s.Lookup("$id"); isTruthy(id) && p.pointer != "" {
		p.base = a.join(p.base, a.checkURI("$id", id))
	}
	if isTruthy(s.Lookup("$async")) && p.pointer != "" && !isTruthy(p.doc.schema.Lookup("$async")) {
		a.fail("$async in a schema that is not")
	}
	a.checkTypes(s)
	if ref := s.Lookup("$ref"); isTruthy(ref) && a.hasOnlyRef(s) {
		a.compileRef(p, ref)
		return
	}
	for key, v := range s.Effective {
		if types, known := a.words[key]; known {
			if types != "" && (v.Kind() == jsonv.KindNull || !strings.Contains(types, v.Kind().String()[:1])) {
				a.fail("%s is %s", key, v.Kind().WithArticle())
			}
			a.compileWord(p, key, v)
		}
	}
}

// checkTypes checks type and nullable.
func (a *ajv) checkTypes(s jsonv.Value) {
	typ, nullable := s.Lookup("type"), s.Lookup("nullable")
	names := []jsonv.Value{}
	if typ.Kind() == jsonv.KindArray {
		names = typ.List()
	} else if isTruthy(typ) {
		names = append(names, typ)
	}
	null := false
	for _, n := range names {
		if !slices.Contains([]string{"string", "number", "integer", "boolean", "null", "object", "array"}, n.Text()) {
			a.fail("the type %s does not exist", n.Short(60))
		}
		null = null || n.Text() == "null"
	}
	switch {
	case null && nullable.Kind() == jsonv.KindBool && !nullable.Bool():
		a.fail("nullable: false contradicts the type null")
	case !null && len(names) == 0 && !nullable.IsAbsent():
		a.fail("nullable without type")
	}
}

func (a *ajv) compileRef(p ajvPart, ref jsonv.Value) {
	if to, ok := a.resolve(p.doc, a.join(p.base, a.checkURI("$ref", ref)), 0); ok {
		a.use(to)
	} else {
		a.fail("the reference %s leads nowhere", ref.Short(80))
	}
}

// compileWord compiles the value of one keyword.
func (a *ajv) compileWord(p ajvPart, key string, v jsonv.Value) {
	s := p.schema
	switch key {
	case "id":
		a.fail("the keyword id, which is $id since draft 06")
	case "$ref":
		a.compileRef(p, v)
	case "enum":
		if v.Len() == 0 {
			a.fail("enum is empty")
		}
	case "pattern":
		a.checkPattern(key, v.Text())
	case "$dynamicRef", "$recursiveRef":
		if !strings.HasPrefix(v.Text(), "#") {
			a.fail("%s does not begin with #", key)
		}
	case "formatMaximum", "formatMinimum", "formatExclusiveMaximum", "formatExclusiveMinimum":
		a.formatLimit(key, s.Lookup("format"))
	case "dependentRequired":
		for name, e := range v.Effective {
			if e.Kind() != jsonv.KindArray && !(e.Kind() == jsonv.KindString && e.Len() == 0) {
				a.fail("dependentRequired.%s is %s", name, e.Kind().WithArticle())
			}
		}
	case "properties", "dependencies", "dependentSchemas":
		for name, e := range v.Effective {
			if name != "__proto__" && (key != "dependencies" || e.Kind() != jsonv.KindArray) {
				a.compileUnlessTrivial(p.findChild(key).findChild(name))
			}
		}
	case "patternProperties":
		a.compilePatternProperties(p.findChild(key), a.later && s.Lookup("additionalProperties").IsAbsent())
	case "items", "prefixItems", "allOf", "oneOf", "anyOf":
		a.list(p.findChild(key), key == "anyOf")
		if v.Kind() != jsonv.KindArray {
			a.compileUnlessTrivial(p.findChild(key))
		}
	default:
		if slices.Contains(ajvApplicators, key) && a.isCompiled(s, key) {
			a.compileUnlessTrivial(p.findChild(key))
		}
	}
}

// The keywords whose value is one schema.
var ajvApplicators = strings.Fields("additionalProperties propertyNames not unevaluatedProperties unevaluatedItems contains additionalItems if then else")

// isCompiled reports whether the schema in a keyword is compiled.
func (a *ajv) isCompiled(s jsonv.Value, key string) bool {
	has := func(word string) bool { return !s.Lookup(word).IsAbsent() }
	switch key {
	case "additionalProperties":
		if !a.isTrivial(s.Lookup(key)) {
			for pattern := range s.Lookup("patternProperties").Effective {
				a.checkPattern("patternProperties", pattern)
			}
		}
	case "unevaluatedProperties":
		return !has("additionalProperties")
	case "unevaluatedItems":
		return !has("items")
	case "contains":
		least, most := s.Lookup("minContains"), s.Lookup("maxContains")
		if a.later && most.IsAbsent() {
			return least.IsAbsent() || least.Float64() != 0
		}
		return !a.later || least.Float64() <= most.Float64()
	case "additionalItems":
		return s.Lookup("items").Kind() == jsonv.KindArray
	case "if":
		return has("then") && !a.isTrivial(s.Lookup("then")) || has("else") && !a.isTrivial(s.Lookup("else"))
	case "then", "else":
		return has("if")
	}
	return true
}

// findChild returns the schema in a member.
func (p ajvPart) findChild(key string) ajvPart {
	p.pointer = jsonv.AppendPointer(p.pointer, key)
	if i, err := strconv.Atoi(key); err == nil && p.schema.Kind() == jsonv.KindArray {
		p.schema = p.schema.At(i)
	} else {
		p.schema = p.schema.Lookup(key)
	}
	return p
}

func (a *ajv) compileUnlessTrivial(p ajvPart) {
	if !a.isTrivial(p.schema) {
		a.use(p)
	}
}

// list compiles the schemas in a list. A list of alternatives of which one is trivial
// is left out by Ajv for draft 07.
func (a *ajv) list(p ajvPart, alternatives bool) {
	for _, e := range p.schema.Elems() {
		if alternatives && a.isTrivial(e) && e.Kind() != jsonv.KindNull {
			if !a.later {
				return
			}
			break
		}
	}
	for i, e := range p.schema.Elems() {
		if alternatives || !a.isTrivial(e) {
			a.use(p.findChild(strconv.Itoa(i)))
		}
	}
}

// compilePatternProperties compiles all patterns if any is needed.
func (a *ajv) compilePatternProperties(p ajvPart, needed bool) {
	for _, e := range p.schema.Effective {
		needed = !a.isTrivial(e) || needed
	}
	for pattern, e := range p.schema.Effective {
		if needed {
			a.checkPattern("patternProperties", pattern)
		}
		if !a.isTrivial(e) {
			a.use(p.findChild(pattern))
		}
	}
}

// formatLimit checks a keyword of ajv-formats that compares dates.
func (a *ajv) formatLimit(key string, format jsonv.Value) {
	name := format.Text()
	switch {
	case format.Kind() != jsonv.KindString:
		a.fail("%s without format", key)
	case slices.Contains(ajvFormats, name):
		a.fail("%s with the format %s, whose values have no order", key, name)
	}
}

// ajvFormats are the formats of ajv-formats whose values it does not compare.
var ajvFormats = strings.Fields("duration uri uri-reference uri-template url email hostname ipv4 ipv6 regex uuid json-pointer " +
	"json-pointer-uri-fragment relative-json-pointer byte int32 int64 float double")
