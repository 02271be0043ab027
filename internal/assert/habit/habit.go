package habit

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"mcptest/internal/base/source"
)

// Matcher returns the matcher that other test tools call name, or "".
func Matcher(name string) string { return matchers[plain(name)] }

// plain removes hyphens and underscores, and folds the case.
func plain(name string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name))
}

// Hint says what to write in place of a matcher of another tool, or "".
func Hint(name string) string {
	switch plain(name) {
	case "notcontains", "doesnotcontain":
		return "write {not: {contains: …}}"
	case "notequals", "notequal", "ne":
		return "write {not: {exact: …}}"
	case "tothrow", "throws", "raises", "rejects", "tothrowerror":
		return "a refusal is a target: {target: refusal, matcher: {exists: true}}, its text {target: refusal.text, matcher: {contains: …}}"
	case "tohaveproperty", "haskey", "hasproperty":
		return "name the property in the target: {target: structured.NAME, matcher: {exists: true}}"
	case "tobetruthy", "truthy", "istrue":
		return "write {exact: true}, or {exists: true}"
	case "tobefalsy", "falsy", "isfalse":
		return "write {exact: false}, or {absent: true}"
	case "tobenull", "isnull":
		return "write {exact: null}"
	case "javascript", "python":
		return "a condition on the value is a matcher; exec: [program, arg] runs one of yours"
	}
	return ""
}

// Milliseconds returns a hint for a duration where a number of milliseconds is
// expected, or "".
func Milliseconds(text string) string {
	d, err := time.ParseDuration(text)
	if err != nil {
		return ""
	}
	return "write milliseconds: " + strconv.FormatInt(d.Milliseconds(), 10)
}

// Entry shows how to write an assertion whose keys are those of another tool. n is the
// assertion, and meant returns a matcher by such a name.
func Entry(n *source.Node, meant func(string) string) string {
	target, matcher, value := "text", "", n.Get("value")
	for _, f := range n.Fields {
		switch name := f.Key.Text; name {
		case "target", "path", "jsonpath", "field", "selector", "property":
			target = f.Value.Text
			if rest, ok := strings.CutPrefix(target, "$."); ok { // of the body of a response
				target = "result." + rest
			}
		case "type", "operator", "assertion":
			if m := meant(f.Value.Text); m != "" && n.Get("value") != nil { // {type: contains, value: x}
				matcher, value = m, n.Get("value")
			}
		case "isError":
			target, matcher, value = "result.isError", "exact", f.Value
		case "error", "refusal", "rejects", "raises", "throws":
			if target, matcher, value = "refusal.text", "contains", f.Value; value.Kind == source.KindBool {
				target, matcher = "refusal", "exists"
			}
		case "result":
			target, matcher, value = "result", "exact", f.Value
		default:
			if m := meant(name); m != "" && matcher == "" {
				matcher, value = m, f.Value
			} else if f.Value.Kind == source.KindMap && len(f.Value.Fields) == 1 && meant(f.Value.Fields[0].Key.Text) != "" { // {text: {contains: x}}
				target, matcher, value = name, meant(f.Value.Fields[0].Key.Text), f.Value.Fields[0].Value
			}
		}
	}
	return "write an entry of the list: - {target: " + target + ", matcher: {" + cmp.Or(matcher, "contains") + ": " + value.Inline() + "}}"
}

// matchers are names that other test tools use for a matcher, without hyphens and in
// lower case.
var matchers = map[string]string{
	"llmrubric": "llm-judge", "modelgradedclosedqa": "llm-judge", "factuality": "llm-judge", "geval": "llm-judge",
	"equals": "exact", "equal": "exact", "eq": "exact", "is": "exact", "tobe": "exact", "toequal": "exact",
	"matches": "regex", "match": "regex", "pattern": "regex", "regexp": "regex",
	"jsonschema": "schema", "containsjson": "is-json", "isvalidjson": "is-json", "json": "is-json",
	"in": "one-of", "enum": "one-of", "isin": "one-of",
	"len": "length", "size": "length", "count": "length", "haslength": "length", "minlength": "length", "maxlength": "length",
	"greaterthan": "gt", "lessthan": "lt", "min": "gte", "max": "lte", "range": "between", "closeto": "approx",
	"similar": "levenshtein", "and": "all-of", "or": "any-of", "nor": "none-of", "every": "each", "all": "each", "some": "any",
	"isempty": "empty", "present": "exists", "defined": "exists", "missing": "absent", "undefined": "absent",
	"notcontains": "not", "notequal": "not", "notequals": "not", "ne": "not", "partial": "subset", "matchobject": "subset", "sameelements": "unordered",
	"isa": "type", "istype": "type", "command": "exec", "script": "exec", "javascript": "exec", "python": "exec",
	"tocontain": "contains", "include": "contains", "includes": "contains", "tomatch": "regex", "tohavelength": "length", "tomatchobject": "subset",
	"tobegreaterthan": "gt", "tobelessthan": "lt", "tomatchsnapshot": "snapshot", "matchsnapshot": "snapshot", "doesnotcontain": "not",
	"tobedefined": "exists", "tobeundefined": "absent", "tobecloseto": "approx", "tostrictequal": "exact", "tobeinstanceof": "type", "toequaltypeof": "type",
	"tobegreaterthanorequal": "gte", "tobelessthanorequal": "lte", "toincludeallmembers": "contains-all", "tocontainequal": "contains", "tobenan": "type",
	"prefix": "starts-with", "hasprefix": "starts-with", "suffix": "ends-with", "hassuffix": "ends-with",
}
