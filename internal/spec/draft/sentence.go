package draft

import (
	"strings"

	"mcptest/internal/base/jsonv"
)

// Sentence says in words what an expectation requires, for people who read it next to the
// text of the suite.
func (x Expectation) Sentence() string {
	if x.Target == "refusal" && x.Matcher == "exists" {
		if x.Argument.Bool() {
			return "the call is refused"
		}
		return "the call is not refused"
	}
	value := x.Argument.String()
	switch x.Matcher {
	case "exact":
		return x.Target + " is exactly " + value
	case "contains":
		return x.Target + " contains " + value
	case "starts-with":
		return x.Target + " begins with " + value
	case "regex":
		return x.Target + " matches the pattern " + value
	case "subset":
		return x.Target + " has at least " + value
	case "unordered":
		return x.Target + " is " + value + " in any order"
	case "type":
		return x.Target + " is of the type " + describeValue(x.Argument)
	case "length":
		return x.Target + describeLength(x.Argument)
	case "schema":
		return x.Target + " is an object with " + describeValue(x.Argument.Lookup("required"))
	case "exists":
		if x.Argument.Bool() {
			return x.Target + " exists"
		}
		return x.Target + " does not exist"
	}
	return x.Target + ": " + x.Matcher + " " + value
}

// describeLength continues a sentence about a text or a list.
func describeLength(argument jsonv.Value) string {
	switch {
	case argument.Kind() == jsonv.KindNumber:
		return " has the length " + argument.Literal()
	case argument.Len() == 1 && argument.Lookup("min").Literal() == "1":
		return " is not empty"
	}
	return " has a length within " + argument.String()
}

// describeValue joins the texts of a list, or returns a text.
func describeValue(v jsonv.Value) string {
	if v.Kind() == jsonv.KindString {
		return v.Text()
	}
	return strings.Join(v.Texts(), ", ")
}
