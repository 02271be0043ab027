package demo

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"mcptest/internal/display"
	"mcptest/internal/jsonv"
)

// failure is an answer that refuses a call.
type failure struct {
	code, message string
	details       []jsonv.Member
}

func refuse(code, format string, args ...any) *failure {
	return &failure{code: code, message: fmt.Sprintf(format, args...)}
}

func (f *failure) with(key string, v jsonv.Value) *failure {
	f.details = append(f.details, jsonv.Member{Key: key, Value: v})
	return f
}

// checkParams checks the parameters of a call against the table. The warnings are
// about unknown ones that a defect accepts.
func (a *Adapter) checkParams(op *operation, params jsonv.Value) (warnings []jsonv.Value, no *failure) {
	var valid []jsonv.Value
	for _, p := range op.params {
		valid = append(valid, jsonv.String(p.name))
	}
	for name := range params.Members() {
		p := op.param(name)
		if p != nil && !p.deny {
			continue
		}
		switch {
		case a.is("unknown-ignored"):
		case a.is("unknown-warned"):
			warnings = append(warnings, jsonv.ObjectOf("code", "UNKNOWN_PARAM_IGNORED", "message", "The parameter '"+name+"' is ignored."))
		default:
			return nil, refuse("VALIDATION_UNKNOWN_PARAM", "%s takes no parameter '%s'.", op.name, name).
				with("operation", jsonv.String(op.name)).with("unknown_params", jsonv.Array(jsonv.String(name))).with("valid_params", jsonv.Array(valid...))
		}
	}
	for _, p := range op.params {
		v, given := params.Get(p.name)
		if !given {
			if no := a.checkMissing(op, p); no != nil {
				return nil, no
			}
			continue
		}
		if no := a.checkValue(p, p.name, v); no != nil {
			return nil, no
		}
	}
	return warnings, nil
}

func (a *Adapter) checkMissing(op *operation, p param) *failure {
	required := p.required
	switch {
	case a.is("requires-optional") && op.verb == "search" && p.name == "text":
		required = true
	case a.is("required-ignored") && op.name == "get_book", a.is("update-without-input") && p.name == "input":
		required = false
	}
	if !required {
		return nil
	}
	code, message := "VALIDATION_MISSING_PARAM", fmt.Sprintf("%s needs the parameter '%s', %s.", op.name, p.name, display.Article(p.typ))
	if a.is("required-unnamed") {
		message = "Something is missing."
	}
	if a.is("required-code") {
		code = "INCOMPLETE"
	}
	return refuse(code, "%s", message).with("param_name", jsonv.String(p.name))
}

// checkValue checks one value against the definition of its parameter.
func (a *Adapter) checkValue(p param, name string, v jsonv.Value) *failure {
	typ := p.typ
	if typ == "Genre" {
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
		return refuse("VALIDATION_INVALID_TYPE", "The parameter '%s' wants %s, got %s.", name, display.Article(p.typ), v.Kind()).
			with("param_name", jsonv.String(name)).with("expected", jsonv.String(typ)).with("actual", jsonv.String(v.Kind().String()))
	}
	if p.items == "string" || strings.HasSuffix(p.typ, "string[]") {
		for _, e := range v.Elems() {
			if e.Kind() != jsonv.KindString {
				return refuse("VALIDATION_INVALID_TYPE", "The parameter '%s' wants an array of string, got %s in it.", name, e.Kind()).with("param_name", jsonv.String(name))
			}
		}
	}
	if reason := a.outside(p, v); reason != "" {
		return refuse("VALIDATION_INVALID_VALUE", "The parameter '%s' wants %s.", name, reason).with("param_name", jsonv.String(name))
	}
	return nil
}

func isA(typ string, v jsonv.Value) bool {
	switch typ {
	case "string":
		return v.Kind() == jsonv.KindString
	case "integer":
		_, ok := v.Int64()
		return v.Kind() == jsonv.KindNumber && ok
	case "boolean":
		return v.Kind() == jsonv.KindBool
	case "array":
		return v.Kind() == jsonv.KindArray
	case "string | string[]":
		return v.Kind() == jsonv.KindString || v.Kind() == jsonv.KindArray
	}
	return v.Kind() == jsonv.KindObject
}

// outside describes the requirement that a value of the right type violates, or
// returns "".
func (a *Adapter) outside(p param, v jsonv.Value) string {
	n := v.Float64()
	s := v.Text()
	switch {
	case p.name == "first" && n > p.max, p.name == "last" && n > p.max: // clamped
	case p.max > p.min && v.Kind() == jsonv.KindNumber && (n < p.min || n > p.max || math.IsNaN(n)) && !a.is("range-open"):
		return fmt.Sprintf("a number from %g to %g", p.min, p.max)
	case p.maxLen > 0 && (utf8.RuneCountInString(s) < p.minLen || utf8.RuneCountInString(s) > p.maxLen):
		return fmt.Sprintf("a text of %d to %d characters", p.minLen, p.maxLen)
	case p.pattern != "" && !regexp.MustCompile(p.pattern).MatchString(s):
		return "a text like " + p.pattern
	case p.format == "date":
		if _, err := time.Parse(time.DateOnly, s); err != nil {
			return "a date such as 2026-01-31"
		}
	}
	if len(p.enum) > 0 && !(a.is("enum-open") && p.typ == "Genre") {
		for _, e := range p.enum {
			if e == s {
				return ""
			}
		}
		return "one of " + strings.Join(p.enum, ", ")
	}
	return ""
}
