package jsonschema

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonschema/engine"
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

// quoteName returns a name in quotes; one that is not valid UTF-8 as JSON has it.
func quoteName(name string) string {
	if utf8.ValidString(name) {
		return strconv.Quote(name)
	}
	return jsonv.String(name).String()
}

// formatMessage describes briefly the value that a keyword requires and the actual value.
func formatMessage(f finding, e engine.Failure) string {
	got, want := f.got.Short(shortLimit), e.Rule.Short(shortLimit)
	switch e.Keyword {
	case "":
		return formatFalseMessage(f)
	case "type":
		return wantType(f.wants, f.got)
	case "const", "enum":
		return wantValue(f.wants, f.got)
	case "format":
		if e.Err != nil {
			return fmt.Sprintf("bad regular expression %s: %v", got, e.Err)
		}
		return fmt.Sprintf("expected format %s, got %s", e.Rule.Text(), got)
	case "not":
		return fmt.Sprintf(`fits the schema under "not", got %s`, got)
	case "pattern":
		return fmt.Sprintf("expected text that matches %s, got %s", e.Rule.Text(), got)
	case "minimum":
		return fmt.Sprintf("expected at least %s, got %s", want, got)
	case "maximum":
		return fmt.Sprintf("expected at most %s, got %s", want, got)
	case "exclusiveMinimum":
		return fmt.Sprintf("expected more than %s, got %s", want, got)
	case "exclusiveMaximum":
		return fmt.Sprintf("expected less than %s, got %s", want, got)
	case "multipleOf":
		return fmt.Sprintf("expected a multiple of %s, got %s", want, got)
	}
	return countMessage(e)
}

// countMessage covers the keywords that count something.
func countMessage(e engine.Failure) string {
	switch e.Keyword {
	case "minLength", "maxLength":
		return formatSizeMessage(e, "character")
	case "minItems", "maxItems":
		return formatSizeMessage(e, "item")
	case "minProperties", "maxProperties":
		return formatSizeMessage(e, "property")
	case "additionalItems":
		return display.Count(e.Count, "item") + " too many"
	case "uniqueItems":
		return fmt.Sprintf("items %d and %d are equal", e.Pair[0], e.Pair[1])
	case "contains":
		return `no item fits the schema under "contains"`
	case "minContains":
		return fmt.Sprintf(`expected at least %s that fit "contains", got %d`, display.Count(e.Limit, "item"), e.Count)
	case "maxContains":
		return fmt.Sprintf(`expected at most %s that fit "contains", got %d`, display.Count(e.Limit, "item"), e.Count)
	}
	return fmt.Sprintf("does not fit %q", e.Keyword)
}

// formatSizeMessage is for a value with too few or too many of its parts.
func formatSizeMessage(e engine.Failure, part string) string {
	bound := "most"
	if strings.HasPrefix(e.Keyword, "min") {
		bound = "least"
	}
	return fmt.Sprintf("expected at %s %s, got %d", bound, display.Count(e.Limit, part), e.Count)
}

// formatFalseMessage returns the message for a value where the schema is false.
func formatFalseMessage(f finding) string {
	if n := len(f.tokens); n > 0 {
		last := f.tokens[n-1]
		if strings.HasSuffix(f.InstancePath, "["+last+"]") {
			return "unexpected item " + f.got.Short(shortLimit)
		}
		return "unexpected property " + quoteName(last)
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
