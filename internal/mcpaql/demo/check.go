package demo

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
)

// checkParams checks the parameters of a call against the table. The warnings are
// about unknown ones that a defect accepts.
func (a *Adapter) checkParams(op *operation, params jsonv.Value) (warnings []jsonv.Value, no *failure) {
	for name := range params.Members() {
		if p := op.findParam(name); p.Name != "" && !p.deny {
			continue
		}
		switch {
		case a.is("unknown-ignored"):
		case a.is("unknown-warned"):
			warnings = append(warnings, jsonv.ObjectOf("code", "UNKNOWN_PARAM_IGNORED", "message", "The parameter '"+name+"' is ignored."))
		default:
			valid := jsonv.List(op.Params, func(p param) jsonv.Value { return jsonv.String(p.Name) })
			return nil, refuse("VALIDATION_UNKNOWN_PARAM", "%s takes no parameter '%s'.", op.Name, name).
				add("operation", jsonv.String(op.Name)).
				add("unknown_params", jsonv.Array(jsonv.String(name))).
				add("valid_params", valid)
		}
	}
	for _, p := range op.Params {
		v, given := params.Get(p.Name)
		if !given {
			if no := a.checkMissing(op, p); no != nil {
				return nil, no
			}
			continue
		}
		if no := a.checkValue(p, p.Name, v); no != nil {
			return nil, no
		}
	}
	return warnings, nil
}

func (a *Adapter) checkMissing(op *operation, p param) *failure {
	required := p.Required
	switch {
	case a.is("requires-optional") && op.Verb == "search" && p.Name == "text":
		required = true
	case a.is("required-ignored") && op.Name == "get_book", a.is("update-without-input") && p.Name == "input":
		required = false
	}
	if !required {
		return nil
	}
	code := "VALIDATION_MISSING_PARAM"
	if a.is("required-code") {
		code = "INCOMPLETE"
	}
	message := fmt.Sprintf("%s needs the parameter '%s', %s.", op.Name, p.Name, display.Article(p.Type))
	if a.is("required-unnamed") {
		message = "Something is missing."
	}
	return refuse(code, "%s", message).add("param_name", jsonv.String(p.Name))
}

// checkValue checks one value against the definition of its parameter.
func (a *Adapter) checkValue(p param, name string, v jsonv.Value) *failure {
	typ := p.Type
	if p.Type == "Genre" {
		typ = "string"
	}
	if a.is("documents-wrong-type") && name == "limit" {
		typ = "integer"
	}
	if a.is("type-coerced") && typ == "integer" && v.Kind() == jsonv.KindString {
		return nil
	}
	if !isA(typ, v) {
		if a.is("vague-types") {
			return refuse("VALIDATION_INVALID_TYPE", "That won't do.")
		}
		return refuse("VALIDATION_INVALID_TYPE", "The parameter '%s' wants %s, got %s.", name, display.Article(p.Type), v.Kind()).
			add("param_name", jsonv.String(name)).
			add("expected", jsonv.String(typ)).
			add("actual", jsonv.String(v.Kind().String()))
	}
	if p.Items.Lookup("type").Text() == "string" || strings.HasSuffix(p.Type, "string[]") {
		for _, e := range v.Elems() {
			if e.Kind() != jsonv.KindString {
				return refuse("VALIDATION_INVALID_TYPE", "The parameter '%s' wants an array of string, got %s in it.", name, e.Kind()).add("param_name", jsonv.String(name))
			}
		}
	}
	if reason := a.findViolation(p, v); reason != "" {
		return refuse("VALIDATION_INVALID_VALUE", "The parameter '%s' wants %s.", name, reason).add("param_name", jsonv.String(name))
	}
	return nil
}

func isA(typ string, v jsonv.Value) bool {
	switch typ {
	case "string", "boolean", "array":
		return v.Kind().String() == typ
	case "integer":
		_, ok := v.Int64()
		return v.Kind() == jsonv.KindNumber && ok
	case "string | string[]":
		return v.Kind() == jsonv.KindString || v.Kind() == jsonv.KindArray
	}
	return v.Kind() == jsonv.KindObject
}

// findViolation describes the requirement that a value of the right type violates, or
// returns "".
func (a *Adapter) findViolation(p param, v jsonv.Value) string {
	n := v.Float64()
	s := v.Text()
	switch {
	case p.Max == nil || v.Kind() != jsonv.KindNumber || a.is("range-open"):
	case (p.Name == "first" || p.Name == "last") && n > *p.Max: // clamped
	case n < *p.Min || n > *p.Max:
		return fmt.Sprintf("a number from %g to %g", *p.Min, *p.Max)
	}
	switch {
	case p.MaxLen > 0 && (utf8.RuneCountInString(s) < p.MinLen || utf8.RuneCountInString(s) > p.MaxLen):
		return fmt.Sprintf("a text of %d to %d characters", p.MinLen, p.MaxLen)
	case p.Pattern != "" && !regexp.MustCompile(p.Pattern).MatchString(s):
		return "a text like " + p.Pattern
	case p.Format == "date":
		if _, err := time.Parse(time.DateOnly, s); err != nil {
			return "a date such as 2026-01-31"
		}
	}
	if len(p.Enum) > 0 && !slices.Contains(p.Enum, s) && !(a.is("enum-open") && p.Type == "Genre") {
		return "one of " + strings.Join(p.Enum, ", ")
	}
	return ""
}

// The limits of a request (D 4.7.5).
const (
	maxString   = 1 << 20
	maxElements = 10_000
	maxDepth    = 32
)

// findExceededLimit returns the limit that a request exceeds, or "".
func findExceededLimit(v jsonv.Value, depth int) string {
	switch {
	case len(v.Text()) > maxString && v.Kind() == jsonv.KindString:
		return "max_string_length is " + strconv.Itoa(maxString)
	case v.Kind() == jsonv.KindArray && v.Len() > maxElements:
		return "max_array_elements is " + strconv.Itoa(maxElements)
	case (v.Kind() == jsonv.KindArray || v.Kind() == jsonv.KindObject) && depth > maxDepth:
		return "max_nesting_depth is " + strconv.Itoa(maxDepth)
	}
	for _, e := range v.Children() {
		if why := findExceededLimit(e, depth+1); why != "" {
			return why
		}
	}
	return ""
}
