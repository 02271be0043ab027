package draft

import (
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lazy"
)

// TargetOf returns the target of a part; "" if the result does not have it.
func (t *Test) TargetOf(p Part) string {
	if len(t.Answers) == 0 {
		return ""
	}
	result := t.Answers[0].Result
	path, v := locate(result, p.At)
	if v.IsAbsent() {
		return ""
	}
	if rest, ok := strings.CutPrefix(path, "result.structuredContent"); ok && t.Block == "tools" {
		return "structured" + rest
	}
	isOnlyText := path == "result.content[0].text" && result.Lookup("content").Len() == 1
	if isOnlyText && t.Block == "tools" {
		return "text"
	}
	return path
}

// isExpectedBy reports whether an assertion is about the part.
func (p Part) isExpectedBy(wanted, target, matcher string, argument jsonv.Value) bool {
	if target != wanted {
		return false
	}
	if p.Text != "" {
		return matcher == "contains" && argument.Text() == p.Text
	}
	return matcher != "contains"
}

// locate returns the value at a JSON pointer and its target; the value is absent if there
// is none.
func locate(result jsonv.Value, pointer string) (string, jsonv.Value) {
	keys, err := jsonv.ParsePointer(pointer)
	v, ok := result.Pointer(pointer)
	if err != nil || !ok {
		return "", jsonv.Value{}
	}
	target, within := "result", result
	for _, key := range keys {
		if within.Kind() == jsonv.KindArray {
			target += "[" + key + "]"
		} else {
			target = makeMember(target, key)
		}
		within, _ = within.Pointer(jsonv.AppendPointer("", key))
	}
	return target, v
}

var plainKey = lazy.Regexp(`^[A-Za-z_][A-Za-z0-9_]*$`)

func makeMember(target, key string) string {
	if plainKey().MatchString(key) {
		return target + "." + key
	}
	return target + "[" + string(jsonv.AppendString(nil, key)) + "]"
}
