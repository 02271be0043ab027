package engine

import (
	"slices"

	"mcptest/internal/base/jsonv"
)

// valueRules are the keywords for values of every kind.
type valueRules struct {
	types    typeSet
	constant jsonv.Value // absent: no const
	allowed  []jsonv.Value
	enum     bool
	isFormat func(text string) bool // nil: format is an annotation
	regex    bool                   // format is regex
}

// typeSet has a bit for each type.
type typeSet uint8

const (
	nullType typeSet = 1 << iota
	booleanType
	numberType
	integerType
	stringType
	arrayType
	objectType
)

func typeNamed(name string) typeSet {
	switch name {
	case "null":
		return nullType
	case "boolean":
		return booleanType
	case "number":
		return numberType
	case "integer":
		return integerType
	case "string":
		return stringType
	case "array":
		return arrayType
	case "object":
		return objectType
	}
	return 0
}

// TypeNames returns the names in the value of a type keyword, each once and in a fixed
// order.
func TypeNames(types jsonv.Value) []string {
	set := typesOf(types)
	var out []string
	for _, name := range [...]string{"null", "boolean", "number", "integer", "string", "array", "object"} {
		if set&typeNamed(name) != 0 {
			out = append(out, name)
		}
	}
	return out
}

func typesOf(v jsonv.Value) typeSet {
	set := typeNamed(v.Text())
	for _, name := range v.Elems() {
		set |= typeNamed(name.Text())
	}
	return set
}

func (t typeSet) has(v jsonv.Value) bool {
	if v.Kind() == jsonv.KindNumber {
		return t&numberType != 0 || t&integerType != 0 && v.IsInteger()
	}
	return t&typeNamed(v.Kind().String()) != 0
}

func (c *compiler) valueRules(n *node) *valueRules {
	rules := &valueRules{}
	if n.resource.dialect.has("validation") {
		rules.types = typesOf(n.value.Lookup("type"))
		if enum := n.value.Lookup("enum"); enum.Kind() == jsonv.KindArray {
			rules.enum, rules.allowed = true, enum.List()
		}
		if n.draft() >= Draft6 {
			rules.constant = n.value.Lookup("const")
		}
	}
	c.addFormat(n, rules)
	return rules
}

func (c *compiler) addFormat(n *node, rules *valueRules) {
	if !c.options.AssertFormat && n.draft() >= Draft2019 && !n.resource.dialect.assertsFormat() {
		return
	}
	format := n.value.Lookup("format").Text()
	if format == "regex" {
		rules.regex = true
	} else if !c.options.IgnoreFormat {
		rules.isFormat = Format(format)
	}
}

// check ends at the first keyword that fails.
func (r *valueRules) check(e *evaluation, n *node, v jsonv.Value, _ *evaluated) bool {
	if r.types != 0 && !r.types.has(v) {
		return e.failSchema(n, "type", Failure{})
	}
	if !r.constant.IsAbsent() && !jsonv.Equal(v, r.constant) {
		return e.failSchema(n, "const", Failure{})
	}
	if r.enum && !slices.ContainsFunc(r.allowed, func(one jsonv.Value) bool { return jsonv.Equal(v, one) }) {
		return e.failSchema(n, "enum", Failure{})
	}
	if v.Kind() != jsonv.KindString {
		return true
	}
	if r.isFormat != nil && !r.isFormat(maskSurrogates(v.Text())) {
		return e.failSchema(n, "format", Failure{})
	}
	if r.regex {
		if err := e.compiles(maskSurrogates(v.Text())); err != nil {
			return e.failSchema(n, "format", Failure{Err: err})
		}
	}
	return true
}

// compiles returns why a text is no regular expression, or nil.
func (e *evaluation) compiles(text string) error {
	if e.meta != nil { // a pattern of the schema, which is needed again
		_, err := e.meta.patterns.compile(text)
		return err
	}
	_, err := compilePattern(text, true)
	return err
}
