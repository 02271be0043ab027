package probe

import (
	"strings"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/aql/live/guard"
	"mcptest/internal/jsonv"
)

// The limits of requests that apply unless an adapter documents others (D 4.7.5).
const (
	defaultString  = 1 << 20
	defaultArray   = 10_000
	defaultNesting = 32
	maxStress      = 10 << 20 // limits above it are not tested
)

// stress sends introspect requests that exceed the limits of the adapter; they cannot
// change anything.
func (p requestProbe) stress() {
	t := p.run.Rows.Tests["limits"]
	switch {
	case !p.run.Options.Stress:
		t.NotApplicable = "--stress was not given"
		return
	case p.run.Bare:
		t.Incomplete = "introspect takes no query, so there is no harmless request over a limit"
		return
	}
	t.Incomplete = "no request over a limit could be sent"
	limits := p.run.Evidence.OperationsList.Lookup("data", "_protocol", "limits")
	if limits.Kind() != jsonv.KindObject {
		p.run.Rows.Fail("limits.documented", guard.Reply{}, "_protocol has no limits")
	}
	limit := func(key string, otherwise int) int {
		if n, ok := limits.Lookup(key).Int64(); ok && n > 0 && n < maxStress {
			return int(n)
		}
		return otherwise
	}
	zeros := make([]jsonv.Value, limit("max_array_elements", defaultArray)+1)
	for i := range zeros {
		zeros[i] = jsonv.Int(0)
	}
	nested := jsonv.Int(0)
	for range limit("max_nesting_depth", defaultNesting) + 1 {
		nested = jsonv.Array(nested)
	}
	for _, big := range []struct {
		what  string
		value jsonv.Value
		typed bool // of the parameter's type, so that only its size is wrong
	}{
		{"a text of more characters than max_string_length", jsonv.String(strings.Repeat("z", limit("max_string_length", defaultString)+1)), true},
		{"more elements than max_array_elements", jsonv.Array(zeros...), false},
		{"more levels than max_nesting_depth", nested, false},
	} {
		r := p.run.Caller.Introspect(evidence.TextMember("query", "operations"), jsonv.Member{Key: "name", Value: big.value})
		if !r.Sent() {
			continue
		}
		p.run.Rows.Count("limits")
		switch {
		case r.OK():
			p.run.Rows.Fail("limits.enforced", r, "introspect takes %s", big.what)
		case r.Refused() && r.Code() != "VALIDATION_PAYLOAD_TOO_LARGE" && big.typed:
			p.run.Rows.Fail("limits.code", r, "introspect refuses %s with another code: %s", big.what, r.Brief())
		}
	}
}
