package demo

import (
	"fmt"

	"mcptest/internal/base/jsonv"
)

func newToolResult(env jsonv.Value, isError bool) jsonv.Value {
	text := jsonv.ObjectOf("type", "text", "text", env.String())
	return jsonv.ObjectOf("content", jsonv.Array(text), "isError", isError)
}

func newSuccess(data jsonv.Value, warnings []jsonv.Value) jsonv.Value {
	answer := jsonv.ObjectOf("success", true, "data", data)
	if len(warnings) > 0 {
		answer = answer.With("warnings", jsonv.Array(warnings...))
	}
	return answer
}

// failure is an answer that refuses a call.
type failure struct {
	code, message string
	details       []jsonv.Member
}

func refuse(code, format string, args ...any) *failure {
	return &failure{code: code, message: fmt.Sprintf(format, args...)}
}

// addParam names the parameter that a failure is about.
func (f *failure) addParam(name string) *failure { return f.add("param_name", jsonv.String(name)) }

// addUnknown names the field that is not known.
func (f *failure) addUnknown(name string) *failure {
	return f.add("unknown_fields", jsonv.Array(jsonv.String(name)))
}

func (f *failure) add(key string, v jsonv.Value) *failure {
	f.details = append(f.details, jsonv.Member{Key: key, Value: v})
	return f
}
