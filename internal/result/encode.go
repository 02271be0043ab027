package result

import (
	"math"
	"slices"
	"strconv"
)

// The encoder of cases is written by hand: a run writes one case for each
// test, and reflection would cost more than many a call does. The names are
// those of the struct tags; a test compares it with encoding/json.
//
// Each member is appended with a comma behind it, and close takes the last
// one away.

// appendCase appends the JSON form of a case.
func appendCase(dst []byte, c *Case) []byte {
	dst = str(append(dst, '{'), "name", c.Name)
	dst = str(dst, "status", string(c.Status))
	dst = num(dst, "duration_ms", c.DurationMS)
	dst = num(dst, "start_ms", c.StartMS)
	dst = str(dst, "file", c.File)
	dst = integer(dst, "line", int64(c.Line))
	dst = optInteger(dst, "column", int64(c.Column))
	dst = optStr(dst, "source", c.Source)
	dst = optStr(dst, "suite", c.Suite)
	dst = optStr(dst, "block", c.Block)
	dst = optStr(dst, "server", c.Server)
	dst = optStr(dst, "call", c.Call)
	dst = strs(dst, "tags", c.Tags)
	dst = optStr(dst, "message", c.Message)
	dst = append(dst, `"assertions":`...)
	dst = append(appendAssertions(dst, c.Assertions), ',')
	dst = flag(dst, "implicit", c.Implicit)
	dst = optNum(dst, "score", c.Score)
	dst = optNum(dst, "threshold", c.Threshold)
	dst = list(dst, "derived_metrics", c.DerivedMetrics, appendMetric)
	dst = flag(dst, "flaky", c.Flaky)
	dst = list(dst, "attempts", c.Attempts, appendAttempt)
	if r := c.Repeat; r != nil {
		dst = integer(append(dst, `"repeat":{`...), "times", int64(r.Times))
		dst = num(integer(dst, "passed", int64(r.Passed)), "rate", r.Rate)
		dst = append(shut(dst, '}'), ',')
	}
	if k := c.KnownFailure; k != nil {
		dst = str(append(dst, `"known_failure":{`...), "status", string(k.Status))
		dst = append(shut(optStr(dst, "reason", k.Reason), '}'), ',')
	}
	dst = flag(dst, "after_restart", c.AfterRestart)
	dst = list(dst, "violations", c.Violations, appendViolation)
	dst = strs(dst, "warnings", c.Warnings)
	dst = list(dst, "phases", c.Phases, appendPhase)
	dst = list(dst, "exchanges", c.Exchanges, appendExchange)
	dst = optStr(dst, "stderr", c.Stderr)
	dst = optStr(dst, "repro", c.Repro)
	return shut(dst, '}')
}

// appendAssertions writes an empty list for nil: "assertions" is always there.
func appendAssertions(dst []byte, as []Assertion) []byte {
	dst = append(dst, '[')
	for i := range as {
		dst = append(appendAssertion(dst, &as[i]), ',')
	}
	return shut(dst, ']')
}

func appendAssertion(dst []byte, a *Assertion) []byte {
	dst = optStr(append(dst, '{'), "name", a.Name)
	dst = flag(dst, "set", a.Set)
	dst = optStr(dst, "target", a.Target)
	dst = optStr(dst, "matcher", a.Matcher)
	dst = boolean(dst, "pass", a.Pass)
	dst = optNum(dst, "score", a.Score)
	dst = optNum(dst, "weight", a.Weight)
	dst = optNum(dst, "threshold", a.Threshold)
	dst = optStr(dst, "message", a.Message)
	dst = optStr(dst, "expected", a.Expected)
	dst = optStr(dst, "actual", a.Actual)
	dst = strs(dst, "diff", a.Diff)
	dst = strs(dst, "notes", a.Notes)
	dst = optStr(dst, "file", a.File)
	dst = optInteger(dst, "line", int64(a.Line))
	dst = optInteger(dst, "column", int64(a.Column))
	dst = optStr(dst, "source", a.Source)
	if len(a.Assertions) > 0 {
		dst = append(dst, `"assertions":`...)
		dst = append(appendAssertions(dst, a.Assertions), ',')
	}
	return shut(dst, '}')
}

func appendMetric(dst []byte, m *Metric) []byte {
	dst = str(append(dst, '{'), "name", m.Name)
	dst = num(dst, "value", m.Value)
	dst = optNum(dst, "threshold", m.Threshold)
	if m.Passed != nil {
		dst = boolean(dst, "passed", *m.Passed)
	}
	dst = strs(dst, "notes", m.Notes)
	return shut(dst, '}')
}

func appendAttempt(dst []byte, a *Attempt) []byte {
	dst = str(append(dst, '{'), "status", string(a.Status))
	dst = num(dst, "duration_ms", a.DurationMS)
	dst = optStr(dst, "message", a.Message)
	dst = list(dst, "phases", a.Phases, appendPhase)
	return shut(dst, '}')
}

func appendViolation(dst []byte, v *Violation) []byte {
	dst = str(append(dst, '{'), "kind", v.Kind)
	dst = str(dst, "message", v.Message)
	dst = optStr(dst, "excerpt", v.Excerpt)
	dst = optInteger(dst, "offset", v.Offset)
	dst = flag(dst, "tolerated", v.Tolerated)
	return shut(dst, '}')
}

func appendPhase(dst []byte, p *Phase) []byte {
	dst = str(append(dst, '{'), "phase", p.Phase)
	dst = str(dst, "name", p.Name)
	dst = str(dst, "status", string(p.Status))
	dst = optStr(dst, "kind", p.Kind)
	dst = num(dst, "start_ms", p.StartMS)
	dst = num(dst, "duration_ms", p.DurationMS)
	dst = optStr(dst, "message", p.Message)
	dst = optStr(dst, "output", p.Output)
	dst = strs(dst, "warnings", p.Warnings)
	dst = optStr(dst, "file", p.File)
	dst = optInteger(dst, "line", int64(p.Line))
	dst = optStr(dst, "source", p.Source)
	return shut(dst, '}')
}

func appendExchange(dst []byte, x *Exchange) []byte {
	dst = optStr(append(dst, '{'), "step", x.Step)
	dst = optStr(dst, "method", x.Method)
	dst = str(dst, "request", x.Request)
	dst = optStr(dst, "response", x.Response)
	dst = list(dst, "during", x.During, appendMessage)
	dst = num(dst, "duration_ms", x.DurationMS)
	if h := x.HTTP; h != nil {
		dst = integer(append(dst, `"http":{`...), "status", int64(h.Status))
		dst = strMap(dst, "headers", h.Headers)
		dst = optInteger(dst, "attempts", int64(h.Attempts))
		dst = append(shut(dst, '}'), ',')
	}
	dst = optStr(dst, "error", x.Error)
	dst = flag(dst, "truncated", x.Truncated)
	return shut(dst, '}')
}

func appendMessage(dst []byte, m *Message) []byte {
	dst = str(append(dst, '{'), "dir", m.Dir)
	dst = num(dst, "ms", m.MS)
	dst = str(dst, "raw", m.Raw)
	return shut(dst, '}')
}

func key(dst []byte, k string) []byte {
	dst = append(append(dst, '"'), k...)
	return append(dst, '"', ':')
}

func str(dst []byte, k, v string) []byte {
	return append(appendString(key(dst, k), v), ',')
}

func optStr(dst []byte, k, v string) []byte {
	if v == "" {
		return dst
	}
	return str(dst, k, v)
}

func strs(dst []byte, k string, v []string) []byte {
	if len(v) == 0 {
		return dst
	}
	dst = append(key(dst, k), '[')
	for _, s := range v {
		dst = append(appendString(dst, s), ',')
	}
	return append(shut(dst, ']'), ',')
}

func strMap(dst []byte, k string, m map[string]string) []byte {
	if len(m) == 0 {
		return dst
	}
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	dst = append(key(dst, k), '{')
	for _, name := range names {
		dst = append(appendString(dst, name), ':')
		dst = append(appendString(dst, m[name]), ',')
	}
	return append(shut(dst, '}'), ',')
}

func list[T any](dst []byte, k string, items []T, one func([]byte, *T) []byte) []byte {
	if len(items) == 0 {
		return dst
	}
	dst = append(key(dst, k), '[')
	for i := range items {
		dst = append(one(dst, &items[i]), ',')
	}
	return append(shut(dst, ']'), ',')
}

func boolean(dst []byte, k string, v bool) []byte {
	return append(strconv.AppendBool(key(dst, k), v), ',')
}

func flag(dst []byte, k string, v bool) []byte {
	if !v {
		return dst
	}
	return boolean(dst, k, v)
}

func integer(dst []byte, k string, v int64) []byte {
	return append(strconv.AppendInt(key(dst, k), v, 10), ',')
}

func optInteger(dst []byte, k string, v int64) []byte {
	if v == 0 {
		return dst
	}
	return integer(dst, k, v)
}

func num(dst []byte, k string, v float64) []byte {
	return append(appendFloat(key(dst, k), v), ',')
}

func optNum(dst []byte, k string, v *float64) []byte {
	if v == nil {
		return dst
	}
	return num(dst, k, *v)
}

// shut ends an object or a list: the comma behind the last member goes.
func shut(dst []byte, end byte) []byte {
	if last := len(dst) - 1; dst[last] == ',' {
		dst = dst[:last]
	}
	return append(dst, end)
}

// appendFloat writes a number as encoding/json does. What JSON has no number
// for becomes the nearest one it has, NaN becomes 0.
func appendFloat(dst []byte, f float64) []byte {
	f = finite(f)
	if i := int64(f); float64(i) == f && i > -1<<53 && i < 1<<53 && (i != 0 || !math.Signbit(f)) {
		return strconv.AppendInt(dst, i, 10)
	}
	format := byte('f')
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	dst = strconv.AppendFloat(dst, f, format, -1, 64)
	if n := len(dst); format == 'e' && n >= 4 && dst[n-4] == 'e' && dst[n-3] == '-' && dst[n-2] == '0' {
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}

func finite(f float64) float64 {
	switch {
	case f != f:
		return 0
	case math.IsInf(f, 0):
		return math.Copysign(math.MaxFloat64, f)
	}
	return f
}
