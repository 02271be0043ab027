package demo

import (
	"fmt"

	"mcptest/internal/base/jsonv"
)

func success(data jsonv.Value, warnings []jsonv.Value) jsonv.Value {
	v := jsonv.ObjectOf("success", true, "data", data)
	if len(warnings) > 0 {
		v = v.With("warnings", jsonv.Array(warnings...))
	}
	return v
}

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
