package run

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
	"mcptest/internal/plan"
	"mcptest/internal/result"
	"mcptest/internal/source"
)

// argumentFaults says how the arguments of a call differ from the tool's
// inputSchema, as far as the list of tools is known.
func (a *attempt) argumentFaults(ctx context.Context, e *entry, op *plan.Op, x *mcp.Exchange) []string {
	if a.c.InvalidArgs || x.Method != "tools/call" || op.Raw != nil || len(op.Params) == 0 {
		return nil
	}
	schema := e.tools.input(ctx, op.Subject)
	if schema.Kind() != jsonv.KindObject {
		return nil
	}
	params, err := jsonv.Parse(op.Params)
	if err != nil {
		return nil
	}
	return ArgumentFaults(schema, params.Lookup("arguments"))
}

// judgeArguments warns of arguments that the tool does not declare, or fails the
// case where the suite says strict_args. A call that was rejected as the test
// expects is a negative test: nothing is said of its arguments.
func (a *attempt) judgeArguments(op *plan.Op, faults []string) {
	if len(faults) == 0 || a.rejected() && a.out.Status == "" {
		return
	}
	text := "arguments of " + op.Subject + ": " + strings.Join(faults, "; ")
	if a.c.File.Options.StrictArgs && a.out.Status == "" {
		a.fail(result.Fail, text+" (strict_args; a test that means it says invalid_args: true)")
		return
	}
	a.out.Warnings = append(a.out.Warnings, text)
}

// rejected reports whether the server rejected the last call, in either form.
func (a *attempt) rejected() bool {
	return !a.obs.Error.IsAbsent() || a.obs.Result.Lookup("isError").Bool()
}

// input is what a tool's inputSchema says, absent when the list is not known.
func (t *toolIndex) input(ctx context.Context, name string) jsonv.Value {
	t.wait(ctx)
	select {
	case <-t.done:
		return t.inputs[name]
	default:
		return jsonv.Value{}
	}
}

// ArgumentFaults says which arguments are unknown to an inputSchema, missing, or
// of another type. What else a schema says is the server's to judge.
func ArgumentFaults(schema, args jsonv.Value) []string {
	if args.IsAbsent() {
		args = jsonv.Object()
	}
	var c argumentCheck
	c.object("", schema, args)
	return c.faults
}

// maxArgumentFaults bounds what is said of one call.
const maxArgumentFaults = 10

type argumentCheck struct{ faults []string }

func (c *argumentCheck) add(fault string) {
	if len(c.faults) < maxArgumentFaults {
		c.faults = append(c.faults, fault)
	}
}

func (c *argumentCheck) object(path string, schema, v jsonv.Value) {
	properties := schema.Lookup("properties")
	var meant []string
	for key, value := range v.Members() {
		property, known := properties.Get(key)
		if known {
			c.value(path+key, property, value)
			continue
		}
		if allowsMore(schema) {
			continue
		}
		near := source.Nearest(key, properties.Keys())
		fault := strconv.Quote(path+key) + " is not in the inputSchema"
		if near != "" {
			meant = append(meant, near)
			fault += source.Aside(source.Suggest(path + near))
		}
		c.add(fault)
	}
	for _, r := range schema.Lookup("required").Elems() {
		if _, given := v.Get(r.Text()); !given && r.Kind() == jsonv.KindString && !slices.Contains(meant, r.Text()) {
			c.add(strconv.Quote(path+r.Text()) + " is required and missing")
		}
	}
}

// allowsMore reports whether an object may have members that properties does not
// name. A schema that says nothing of them is taken to mean those it names.
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

func (c *argumentCheck) value(path string, schema, v jsonv.Value) {
	var types []string
	switch t := schema.Lookup("type"); t.Kind() {
	case jsonv.KindString:
		types = []string{t.Text()}
	case jsonv.KindArray:
		for _, one := range t.Elems() {
			types = append(types, one.Text())
		}
	}
	if len(types) > 0 && !slices.ContainsFunc(types, func(name string) bool { return isType(v, name) }) {
		c.add(strconv.Quote(path) + " is " + v.Short(40) + ", not of the type " + strings.Join(types, " or "))
		return
	}
	if v.Kind() == jsonv.KindObject {
		c.object(path+".", schema, v)
	}
}

func isType(v jsonv.Value, name string) bool {
	if name == "integer" && v.Kind() == jsonv.KindNumber {
		_, whole := v.Int64()
		return whole || v.Float64() == float64(int64(v.Float64()))
	}
	return v.Kind().String() == name
}
