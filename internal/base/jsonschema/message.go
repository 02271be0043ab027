package jsonschema

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
)

// shortLimit is the number of characters of a value that a message shows.
const shortLimit = 60

// maxWants is the number of accepted values that a message lists.
const maxWants = 12

// describe formats a value with its type: number 3, object {"a":1}.
func describe(v jsonv.Value) string {
	switch v.Kind() {
	case jsonv.KindAbsent, jsonv.KindNull:
		return v.Kind().String()
	}
	return v.Kind().String() + " " + v.Short(shortLimit)
}

// message describes briefly the value that a keyword requires and the actual value.
func (r *reporter) message(f finding, e *jsonschema.ValidationError) string {
	got := f.got.Short(shortLimit)
	switch k := e.ErrorKind.(type) {
	case *kind.FalseSchema:
		return falseMessage(f)
	case *kind.Type:
		return wantType(k.Want, f.got)
	case *kind.Const:
		return wantValue([]string{jsonv.From(k.Want).Short(shortLimit)}, f.got)
	case *kind.Enum:
		return wantValue(r.withWants(f, e).wants, f.got)
	case *kind.Format:
		if k.Want == "regex" {
			return fmt.Sprintf("bad regular expression %s: %v", got, k.Err)
		}
		return fmt.Sprintf("expected format %s, got %s", k.Want, got)
	case *kind.Not:
		return fmt.Sprintf(`fits the schema under "not", got %s`, got)
	case *kind.Pattern:
		return fmt.Sprintf("expected text that matches %s, got %s", k.Want, got)
	case *kind.Minimum:
		return fmt.Sprintf("expected at least %s, got %s", r.bound(e, k.Want, "minimum"), got)
	case *kind.Maximum:
		return fmt.Sprintf("expected at most %s, got %s", r.bound(e, k.Want, "maximum"), got)
	case *kind.ExclusiveMinimum:
		return fmt.Sprintf("expected more than %s, got %s", r.bound(e, k.Want, "exclusiveMinimum", "minimum"), got)
	case *kind.ExclusiveMaximum:
		return fmt.Sprintf("expected less than %s, got %s", r.bound(e, k.Want, "exclusiveMaximum", "maximum"), got)
	case *kind.MultipleOf:
		return fmt.Sprintf("expected a multiple of %s, got %s", r.bound(e, k.Want, "multipleOf"), got)
	}
	if msg, ok := countMessage(e.ErrorKind); ok {
		return msg
	}
	return fmt.Sprintf("does not fit %q, got %s", f.Keyword, got)
}

// countMessage covers the keywords that count something.
func countMessage(k jsonschema.ErrorKind) (string, bool) {
	switch k := k.(type) {
	case *kind.MinLength:
		return fmt.Sprintf("expected at least %s, got %d", display.Count(k.Want, "character"), k.Got), true
	case *kind.MaxLength:
		return fmt.Sprintf("expected at most %s, got %d", display.Count(k.Want, "character"), k.Got), true
	case *kind.MinItems:
		return fmt.Sprintf("expected at least %s, got %d", display.Count(k.Want, "item"), k.Got), true
	case *kind.MaxItems:
		return fmt.Sprintf("expected at most %s, got %d", display.Count(k.Want, "item"), k.Got), true
	case *kind.AdditionalItems:
		return display.Count(k.Count, "item") + " too many", true
	case *kind.MinProperties:
		return fmt.Sprintf("expected at least %s, got %d", display.Count(k.Want, "property"), k.Got), true
	case *kind.MaxProperties:
		return fmt.Sprintf("expected at most %s, got %d", display.Count(k.Want, "property"), k.Got), true
	case *kind.UniqueItems:
		return fmt.Sprintf("items %d and %d are equal", k.Duplicates[0], k.Duplicates[1]), true
	case *kind.Contains:
		return `no item fits the schema under "contains"`, true
	case *kind.MinContains:
		return fmt.Sprintf(`expected at least %s that fit "contains", got %d`, display.Count(k.Want, "item"), len(k.Got)), true
	case *kind.MaxContains:
		return fmt.Sprintf(`expected at most %s that fit "contains", got %d`, display.Count(k.Want, "item"), len(k.Got)), true
	}
	return "", false
}

// falseMessage returns the message for a value where the schema is false.
func falseMessage(f finding) string {
	if n := len(f.tokens); n > 0 {
		last := f.tokens[n-1]
		if strings.HasSuffix(f.InstancePath, "["+last+"]") {
			return "unexpected item " + f.got.Short(shortLimit)
		}
		return fmt.Sprintf("unexpected property %q", last)
	}
	return "no value is allowed here, got " + describe(f.got)
}

func wantType(types []string, got jsonv.Value) string {
	return fmt.Sprintf("expected type %s, got %s", display.Alternatives(types, "or"), describe(got))
}

func wantValue(wants []string, got jsonv.Value) string {
	if len(wants) == 1 {
		return fmt.Sprintf("expected %s, got %s", wants[0], got.Short(shortLimit))
	}
	more := ""
	if n := len(wants); n > maxWants {
		wants, more = wants[:maxWants], fmt.Sprintf(", … (%d in all)", n)
	}
	return fmt.Sprintf("expected one of %s%s, got %s", strings.Join(wants, ", "), more, got.Short(shortLimit))
}

// bound returns a limit as written in the schema. Draft 4 has the number of an
// exclusive limit under another keyword.
func (r *reporter) bound(e *jsonschema.ValidationError, limit *big.Rat, keywords ...string) string {
	for _, k := range keywords {
		if v := r.sources.keyword(e.SchemaURL, k); v.Kind() == jsonv.KindNumber {
			return v.Short(shortLimit)
		}
	}
	if limit.IsInt() {
		return limit.Num().String()
	}
	f, _ := limit.Float64()
	return jsonv.Float(f).Literal()
}
