package check

import (
	"slices"
	"strconv"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

// Arguments lists the problems of arguments: those that an inputSchema does not declare,
// that are missing, or that have another type. unknown are the problems of the first kind.
// The rest of the schema is left to the server.
func Arguments(schema, args jsonv.Value) (problems, unknown []string) {
	if args.IsAbsent() {
		args = jsonv.Object()
	}
	var c argumentCheck
	c.checkObject("", schema, args)
	return c.problems, c.unknown
}

// maxArguments limits the reported problems of one call.
const maxArguments = 10

type argumentCheck struct{ problems, unknown []string }

func (c *argumentCheck) add(problem string) {
	if len(c.problems) < maxArguments {
		c.problems = append(c.problems, problem)
	}
}

func (c *argumentCheck) checkObject(path string, schema, v jsonv.Value) {
	properties := schema.Lookup("properties")
	var meant []string
	for key, value := range v.Members() {
		if property, known := properties.Get(key); known {
			c.checkValue(path+key, property, value)
			continue
		}
		if allowsMore(schema) {
			continue
		}
		near := source.FindNearest(key, properties.Keys())
		problem := strconv.Quote(path+key) + " is not in the inputSchema"
		if near != "" {
			meant = append(meant, near)
			problem += source.Parenthesis(source.Suggest(path + near))
		}
		c.add(problem)
		if len(c.unknown) < maxArguments {
			c.unknown = append(c.unknown, problem)
		}
	}
	for _, r := range schema.Lookup("required").Elems() {
		_, given := v.Get(r.Text())
		if !given && r.Kind() == jsonv.KindString && !slices.Contains(meant, r.Text()) {
			c.add(strconv.Quote(path+r.Text()) + " is required and missing")
		}
	}
}

// allowsMore reports whether an object may have members that properties does not
// list. Unless a schema says otherwise, it may not.
func allowsMore(schema jsonv.Value) bool {
	for _, key := range []string{"patternProperties", "$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "dependentSchemas", "propertyNames", "unevaluatedProperties"} {
		if _, has := schema.Get(key); has {
			return true
		}
	}
	if more, has := schema.Get("additionalProperties"); has {
		return more.Kind() != jsonv.KindBool || more.Bool()
	}
	return schema.Lookup("properties").Kind() != jsonv.KindObject
}

func (c *argumentCheck) checkValue(path string, schema, v jsonv.Value) {
	var types []string
	switch t := schema.Lookup("type"); t.Kind() {
	case jsonv.KindString:
		types = []string{t.Text()}
	case jsonv.KindArray:
		types = t.Texts()
	}
	if len(types) > 0 && !slices.ContainsFunc(types, func(name string) bool { return isType(v, name) }) {
		problem := strconv.Quote(path) + " is " + v.Short(40) + ", not of the type " + strings.Join(types, " or ")
		if v.Kind() == jsonv.KindNumber && slices.Equal(types, []string{"string"}) && len(v.String()) <= 40 {
			problem += ": write " + strconv.Quote(v.String()) + " in quotes"
		}
		c.add(problem)
		return
	}
	if v.Kind() == jsonv.KindObject {
		c.checkObject(path+".", schema, v)
	}
}

func isType(v jsonv.Value, name string) bool {
	if name == "integer" {
		return v.IsInteger() // of any size
	}
	return v.Kind().String() == name
}
