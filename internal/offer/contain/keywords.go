package contain

import (
	"regexp"
	"slices"

	"mcptest/internal/base/jsonv"
)

func (r *reader) readScalars() {
	switch t := r.v.Lookup("type"); t.Kind() {
	case jsonv.KindString:
		r.add(opTypes, typeNames[t.Text()])
	case jsonv.KindArray:
		a := r.add(opTypes, 0)
		for _, e := range t.Elems() {
			a.on |= typeNames[e.Text()]
		}
	}
	if r.has("enum") {
		r.add(opEnum, tAll).values = r.v.Lookup("enum").List()
	}
	if r.has("const") {
		r.add(opEnum, tAll).values = []jsonv.Value{r.v.Lookup("const")}
	}
	r.readNumber("minimum", opMin, false)
	r.readNumber("exclusiveMinimum", opMin, true)
	r.readNumber("maximum", opMax, false)
	r.readNumber("exclusiveMaximum", opMax, true)
	r.readNumber("multipleOf", opMultiple, false)
	r.count("minLength", opMinLength, tString)
	r.count("maxLength", opMaxLength, tString)
	if p := r.v.Lookup("pattern"); p.Kind() == jsonv.KindString {
		r.readPattern(opPattern, tString, p.Text())
	}
}

// readPattern adds an atom with a regular expression; an opaque one if only the validator
// supports it.
func (r *reader) readPattern(o op, on types, text string) *atom {
	re, err := regexp.Compile(text)
	if err != nil {
		if o == opPattern {
			r.addOpaque(on, "pattern "+text)
		} else {
			r.addOpaque(on, r.whole("patternProperties"))
		}
		return nil
	}
	a := r.add(o, on)
	a.re, a.text = re, text
	return a
}

func (r *reader) readNumber(key string, o op, strict bool) {
	v := r.v.Lookup(key)
	if v.Kind() != jsonv.KindNumber {
		return
	}
	num := parseRat(v)
	if num == nil {
		r.addOpaque(tNumber, key+" "+v.Literal())
		return
	}
	a := r.add(o, tNumber)
	a.num, a.strict = num, strict
}

// count adds an atom with a count, unless the count always holds.
func (r *reader) count(key string, o op, on types) {
	v := r.v.Lookup(key)
	if v.Kind() != jsonv.KindNumber {
		return
	}
	n, ok := v.Int64()
	if !ok || n > 1<<30 {
		r.addOpaque(on, key+" "+v.Literal())
		return
	}
	r.add(o, on).n = int(n)
}

func (r *reader) readLogic() {
	for _, n := range r.list("allOf") {
		r.add(opNode, tAll).rest = n
	}
	if r.has("anyOf") {
		r.add(opAny, tAll).nodes = r.list("anyOf")
	}
	if r.has("oneOf") {
		r.add(opOne, tAll).nodes = r.list("oneOf")
	}
	if r.has("not") {
		r.add(opNot, tAll).rest = r.sub("not")
	}
	if r.has("if") && r.c.draft == 6 || r.has("$dynamicRef") || r.has("$recursiveRef") {
		r.addOpaque(tAll, r.whole("if"))
	} else if r.has("if") {
		r.readConditional()
	}
}

// readConditional reads if, then and else as (not if or then) and (if or else).
func (r *reader) readConditional() {
	cond := r.sub("if")
	not := &node{id: r.c.s.newID()}
	a := r.c.newAtom(opNot, tAll)
	a.rest = cond
	not.atoms = []*atom{a}
	if r.has("then") {
		r.add(opAny, tAll).nodes = []*node{not, r.sub("then")}
	}
	if r.has("else") {
		r.add(opAny, tAll).nodes = []*node{cond, r.sub("else")}
	}
}

func (r *reader) readArrays() {
	prefix, rest := "prefixItems", "items"
	if r.c.draft < 2020 && r.v.Lookup("items").Kind() == jsonv.KindArray {
		prefix, rest = "items", "additionalItems"
	} else if r.c.draft < 2020 {
		prefix = "" // not known yet
	}
	r.count("minItems", opMinItems, tArray)
	r.count("maxItems", opMaxItems, tArray)
	if r.v.Lookup("uniqueItems").Bool() {
		r.add(opUnique, tArray)
	}
	if prefix != "" && r.has(prefix) || r.has(rest) {
		a := r.add(opItems, tArray)
		a.rest = r.c.s.anything
		if prefix != "" {
			a.nodes = r.list(prefix)
		}
		if r.has(rest) {
			a.rest = r.sub(rest)
		}
	}
	if r.c.draft >= 2019 && r.has("unevaluatedItems") {
		r.addOpaque(tArray, r.whole("unevaluatedItems"))
	}
	if !r.has("contains") {
		return
	}
	least := 1
	if r.c.draft >= 2019 {
		if n, ok := r.v.Lookup("minContains").Int64(); ok {
			least = int(min(n, 1000))
		}
		if n, ok := r.v.Lookup("maxContains").Int64(); ok {
			a := r.add(opMaxContain, tArray)
			a.n, a.rest = int(min(n, 1<<30)), r.sub("contains")
		}
	}
	if least > 0 {
		a := r.add(opContains, tArray)
		a.n, a.rest = least, r.sub("contains")
	}
}

func (r *reader) readObjects() {
	r.count("minProperties", opMinProps, tObject)
	r.count("maxProperties", opMaxProps, tObject)
	for _, e := range r.v.Lookup("required").Elems() {
		r.add(opRequired, tObject).text = e.Text()
	}
	props := r.v.Lookup("properties").Keys()
	for _, k := range props {
		a := r.add(opProperty, tObject)
		a.text, a.rest = k, r.sub("properties", k)
	}
	var res []*regexp.Regexp
	for _, k := range r.v.Lookup("patternProperties").Keys() {
		if a := r.readPattern(opPattProp, tObject, k); a != nil {
			a.rest = r.sub("patternProperties", k)
			res = append(res, a.re)
		}
	}
	additional := "additionalProperties"
	if r.c.draft >= 2019 && r.has("unevaluatedProperties") {
		if r.inPlace() || r.has(additional) {
			r.addOpaque(tObject, r.whole("unevaluatedProperties"))
		} else {
			additional = "unevaluatedProperties" // no other keyword evaluates properties
		}
	}
	if r.has(additional) {
		a := r.add(opAdditional, tObject)
		a.names, a.res, a.rest = props, res, r.sub(additional)
	}
	if r.has("propertyNames") {
		r.add(opNames, tObject).rest = r.sub("propertyNames")
	}
	if r.c.draft >= 2019 {
		r.readDependencies("dependentRequired")
		r.readDependencies("dependentSchemas")
	}
	r.readDependencies("dependencies")
}

// inPlace reports whether further schemas apply to the same object.
func (r *reader) inPlace() bool {
	return slices.ContainsFunc([]string{"$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "not", "if", "dependentSchemas", "dependencies"}, r.has)
}

// readDependencies reads "if the property is present, then" as an alternative.
func (r *reader) readDependencies(keyword string) {
	for k, v := range r.v.Lookup(keyword).Members() {
		if v.Kind() == jsonv.KindArray && keyword == "dependentSchemas" || v.Kind() != jsonv.KindArray && keyword == "dependentRequired" {
			continue
		}
		absent := &node{id: r.c.s.newID()}
		a := r.c.newAtom(opProperty, tObject)
		a.text, a.rest = k, r.c.s.nothing
		absent.atoms = []*atom{a}
		then := &node{id: r.c.s.newID()}
		if v.Kind() != jsonv.KindArray {
			// The schema applies only to objects with the property.
			then = r.sub(keyword, k)
		}
		for _, e := range v.Elems() {
			a := r.c.newAtom(opRequired, tObject)
			a.text = e.Text()
			then.atoms = append(then.atoms, a)
		}
		r.add(opAny, tObject).nodes = []*node{absent, then}
	}
}

// noteDeclared records which properties the schema declares itself, and whether a keyword
// allows others. Required properties count as declared, because no value is accepted
// without them.
func (r *reader) noteDeclared() {
	r.n.open = r.n.open || r.has("patternProperties") || r.has("additionalProperties") || r.has("unevaluatedProperties")
	r.n.declares = r.has("properties")
	r.n.declared = append(r.v.Lookup("properties").Keys(), r.v.Lookup("required").Texts()...)
	for _, keyword := range []string{"dependentRequired", "dependentSchemas", "dependencies"} {
		for k, v := range r.v.Lookup(keyword).Members() {
			r.n.declared = append(append(r.n.declared, k), v.Texts()...)
		}
	}
}
