package evidence

import (
	"slices"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/reference"
)

// IsRefused reports whether an answer is a failure.
func IsRefused(answer jsonv.Value) bool {
	s := answer.Lookup("success")
	return s.Kind() == jsonv.KindBool && !s.Bool()
}

// IsSuccess reports whether an answer is a success.
func IsSuccess(answer jsonv.Value) bool { return answer.Lookup("success").Bool() }

// Message returns the message of a failure; a missing one is an empty text.
func Message(answer jsonv.Value) jsonv.Value {
	m := answer.Lookup("error", "message")
	if m.IsAbsent() || m.Kind() == jsonv.KindNull {
		return jsonv.String("")
	}
	return m
}

// Some adapters answer success: true around a failure of the system behind them. Such
// an answer is neither a success nor a refusal: it is not compared with anything and
// is not evidence.

// failureText matches the beginning of a text that describes a failure.
var failureText = Pattern(`(?i)^\s*(❌|✖|✗|⛔|🚫|\[?(error|failure|exception|fatal)\]?\s*[:(!-]|(error|failed|failure|unable|cannot|could not)\s+(to|in|at|while|during|when)\s|traceback \(most recent|[a-z]*(error|exception):\s)`)

// besideError lists the members that data may have next to error when it is only a
// failure.
var besideError = []string{
	"error", "code", "message", "details", "success", "ok", "status", "statusCode", "status_code", "isError", "is_error", "type", "hint", "reason",
	"operation", "timestamp", "request_id", "requestId",
}

// FindWrappedFailure returns the reason why a success is in fact a failure, "" if it is
// none.
func FindWrappedFailure(answer jsonv.Value) string {
	if !IsSuccess(answer) {
		return ""
	}
	data := answer.Lookup("data")
	for _, key := range []string{"isError", "is_error"} {
		if data.Lookup(key).Bool() {
			return "data." + key + " is true"
		}
	}
	if no := data.Lookup("success"); no.Kind() == jsonv.KindBool && !no.Bool() {
		return "data.success is false"
	}
	hasError := data.Kind() == jsonv.KindObject && reference.IsTruthy(data.Lookup("error"))
	if hasError && hasOnlyMembers(data, besideError) {
		return "data contains only an error: " + FormatBrief(data.Lookup("error"))
	}
	for _, s := range listOnlyTexts(data) {
		if failureText().MatchString(s) {
			return "the text begins " + QuoteStart(s, 80)
		}
	}
	return ""
}

func hasOnlyMembers(v jsonv.Value, names []string) bool {
	return !slices.ContainsFunc(v.Keys(), func(k string) bool { return !slices.Contains(names, k) })
}

// listOnlyTexts returns the texts that an answer consists of: data itself, its single
// member, or the first block of an MCP result inside it.
func listOnlyTexts(data jsonv.Value) (out []string) {
	block := data.Lookup("content").At(0)
	for _, v := range []jsonv.Value{data, data.At(0), block} {
		switch {
		case v.Kind() == jsonv.KindString && (data.Kind() == jsonv.KindString || data.Len() == 1):
			out = append(out, v.Text())
		case v.Lookup("type").Text() == "text":
			out = append(out, v.Lookup("text").Text())
		}
	}
	for _, key := range []string{"text", "message", "result", "output"} {
		v := data.Lookup(key)
		if data.Len() == 1 && v.Kind() == jsonv.KindString {
			out = append(out, v.Text())
		}
	}
	return out
}

// Merge returns an object with the members of another one, which take precedence.
func Merge(o, other jsonv.Value) jsonv.Value {
	for k, v := range other.Members() {
		o = o.With(k, v)
	}
	return o
}
