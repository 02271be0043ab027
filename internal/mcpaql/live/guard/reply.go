package guard

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
	"mcptest/internal/mcpaql/evidence"
)

// Limits on how much of an answer a run keeps, in bytes.
const (
	maxKeptAnswer     = 64 << 10
	maxEvidenceAnswer = 1 << 20
)

// Reply is the answer to one call of an operation.
type Reply struct {
	Number   int // number in the transcript, from 1; 0 when nothing was sent
	Tool     string
	Args     jsonv.Value
	Envelope jsonv.Value // the envelope, absent when there is none
	raw      jsonv.Value // the tool's result, absent when there is none
	rpc      *protocol.RPCError
	Cause    error
	Barred   bool // not sent: the policy forbids it
	void     bool // its outcome does not count: it was canceled when the run ended, or the rate is limited
	Silent   bool // no answer came
}

// IsOK reports whether the answer is a success and contains no failure.
func (r Reply) IsOK() bool {
	return evidence.IsSuccess(r.Envelope) && evidence.FindWrappedFailure(r.Envelope) == ""
}

// IsRefused reports whether the answer is a failure.
func (r Reply) IsRefused() bool { return evidence.IsRefused(r.Envelope) }

// WasSent reports whether the call was sent and its outcome counts.
func (r Reply) WasSent() bool { return r.Number > 0 && !r.void }

// WasHeard reports whether an answer came.
func (r Reply) WasHeard() bool { return r.WasSent() && !r.Silent }

// Code returns the error code of a failure.
func (r Reply) Code() string { return r.Envelope.Lookup("error", "code").Text() }

// Data returns the data of a success, see unwrapped.
func (r Reply) Data() jsonv.Value {
	data, _ := unwrapData(r.Envelope)
	return data
}

// unwrapData returns the data of a success, and its path. An adapter in front of
// another MCP server may return that server's whole result as data: what counts is
// then its structured content, or else the JSON in its first text.
func unwrapData(env jsonv.Value) (data jsonv.Value, path string) {
	if parsed := env.Lookup(evidence.Additions, "data"); !parsed.IsAbsent() {
		return parsed, evidence.Additions + ".data"
	}
	data = env.Lookup("data")
	for _, key := range []string{"structured_content", "structuredContent"} {
		if v := data.Lookup(key); v.Kind() == jsonv.KindObject && data.Lookup("content").Kind() == jsonv.KindArray {
			return v, "data." + key
		}
	}
	return data, "data"
}

// parseWrapped adds the JSON in the first text of a wrapped result to an envelope.
func parseWrapped(env jsonv.Value) jsonv.Value {
	first := env.Lookup("data", "content").At(0)
	if _, path := unwrapData(env); path != "data" || first.Lookup("type").Text() != "text" {
		return env
	}
	v, err := jsonv.Parse([]byte(first.Lookup("text").Text()))
	if err != nil || v.Kind() != jsonv.KindObject && v.Kind() != jsonv.KindArray {
		return env
	}
	return env.With(evidence.Additions, jsonv.ObjectOf("data", v))
}

// Message returns the text of a failure, including a JSON-RPC error.
func (r Reply) Message() string {
	e := r.Envelope.Lookup("error")
	switch {
	case r.rpc != nil:
		return r.rpc.Message
	case e.Kind() == jsonv.KindString:
		return e.Text()
	}
	return r.Envelope.Lookup("error", "message").Text()
}

// IsDocumented reports whether a failure has a code from the registry's families.
func (r Reply) IsDocumented() bool {
	return r.isOneOf("NOT_FOUND", "VALIDATION_", "PERMISSION_", "CONFLICT_", "RATE_LIMIT",
		"CONFIRMATION_REQUIRED", "TOKEN_", "INVALID_QUERY_TYPE")
}

// isOneOf reports whether a failure has a code from one of the given families.
func (r Reply) isOneOf(families ...string) bool {
	return slices.ContainsFunc(families, func(family string) bool { return strings.HasPrefix(r.Code(), family) })
}

// NamesUnknown reports whether an answer refuses a parameter as nonexistent, or
// warns that it is.
func (r Reply) NamesUnknown(name string) bool {
	if r.IsOK() {
		return evidence.HasName(r.Envelope.Lookup("warnings"), name)
	}
	m := strings.ToLower(r.Message())
	if r.Code() == "VALIDATION_UNKNOWN_PARAM" {
		return true
	}
	saysUnknown := strings.Contains(m, "unknown") || strings.Contains(m, "unexpected") || strings.Contains(m, "unrecogni")
	return saysUnknown && evidence.ContainsName(r.Message(), name)
}

// Response returns the answer as evidence: the envelope, or the response that came
// instead.
func (r Reply) Response() jsonv.Value {
	v := r.Envelope
	switch {
	case v.Kind() == jsonv.KindObject:
	case r.rpc != nil:
		v = jsonv.ObjectOf("jsonrpc_error", jsonv.ObjectOf("code", r.rpc.Code, "message", r.rpc.Message))
	case r.Cause != nil:
		v = jsonv.ObjectOf("no_answer", r.Cause.Error())
	case r.raw.IsAbsent():
		v = jsonv.Null()
	default:
		v = r.raw
	}
	if size := len(v.Append(nil)); size > maxEvidenceAnswer {
		kept := jsonv.ObjectOf("x_truncated", size, "success", v.Lookup("success"))
		if cause := v.Lookup("error"); len(cause.Append(nil)) < maxKeptAnswer {
			kept = kept.With("error", cause)
		}
		return kept
	}
	return v
}

// FormatBrief describes the answer in a few words.
func (r Reply) FormatBrief() string {
	switch {
	case r.Cause != nil:
		return r.Cause.Error()
	case r.rpc != nil:
		return "JSON-RPC error " + fmt.Sprint(r.rpc.Code) + ": " + display.Truncate(r.rpc.Message, 120)
	case r.IsOK():
		return "success"
	case evidence.IsSuccess(r.Envelope):
		return "success around a failure: " + evidence.FindWrappedFailure(r.Envelope)
	case r.IsRefused():
		return strings.TrimSpace(r.Code() + " " + evidence.QuoteStart(r.Message(), 120))
	}
	return "no result envelope"
}

// isDenied reports whether a call was refused because of its caller's permissions.
func (r Reply) isDenied() bool {
	return slices.ContainsFunc([]string{"PERMISSION", "FORBIDDEN", "DENIED", "UNAUTHORIZED"}, func(word string) bool {
		return strings.Contains(strings.ToUpper(r.Code()), word)
	})
}

func (r Reply) isRateLimited() bool { return strings.HasPrefix(r.Code(), "RATE_LIMIT") }

// isBusy reports whether HTTP refused a call for now, and waiting did not help. Nothing
// is known about the operation then.
func (r Reply) isBusy() bool {
	if r.Cause == nil {
		return false
	}
	says := r.Cause.Error()
	return strings.Contains(says, "HTTP 429") || strings.Contains(says, "HTTP 503")
}

// retryAfter returns how long a refusal asks to wait, one second if it names no time.
func (r Reply) retryAfter() time.Duration {
	for _, key := range []string{"retry_after_seconds", "retry_after"} {
		if v := r.Envelope.Lookup("error", "details", key); v.Float64() > 0 {
			return time.Duration(min(v.Float64(), 1e6) * float64(time.Second))
		}
	}
	return time.Second
}

func (r Reply) operation() string { return r.Args.Lookup("operation").Text() }

// Token returns the token of a refusal and its expiry.
func (r Reply) Token() (token, expires string) {
	for _, at := range []jsonv.Value{r.Envelope.Lookup("error", "details"), r.Envelope.Lookup("confirmation")} {
		for _, key := range []string{"confirmation_token", "token"} {
			if s := at.Lookup(key).Text(); s != "" && token == "" {
				token, expires = s, at.Lookup("expires_at").Text()
			}
		}
	}
	return token, expires
}
