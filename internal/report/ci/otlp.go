package ci

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"mcptest/internal/base/lists"
	"mcptest/internal/base/term"
	"mcptest/internal/report/explain"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// The objects of the OpenTelemetry protocol are in protobuf's JSON mapping with ids in
// hexadecimal, enumerations as numbers and 64-bit integers as text
// (opentelemetry.io/docs/specs/otlp, "JSON Protobuf Encoding").
type (
	otlpSpan struct {
		TraceID           string          `json:"traceId"`
		SpanID            string          `json:"spanId"`
		ParentSpanID      string          `json:"parentSpanId,omitempty"` // absent: it is the root
		Name              string          `json:"name"`
		Kind              int             `json:"kind"`
		StartTimeUnixNano string          `json:"startTimeUnixNano"`
		EndTimeUnixNano   string          `json:"endTimeUnixNano"`
		Attributes        []otlpAttribute `json:"attributes"`
		Events            []otlpEvent     `json:"events,omitempty"`
		Status            otlpStatus      `json:"status"`
	}

	otlpEvent struct {
		TimeUnixNano string          `json:"timeUnixNano"`
		Name         string          `json:"name"`
		Attributes   []otlpAttribute `json:"attributes"`
	}

	otlpStatus struct {
		Message string `json:"message,omitempty"`
		Code    int    `json:"code,omitempty"` // 0 unset, 1 ok, 2 error
	}

	otlpAttribute struct {
		Key   string    `json:"key"`
		Value otlpValue `json:"value"`
	}

	// otlpValue has exactly one member.
	otlpValue struct {
		String *string  `json:"stringValue,omitempty"`
		Bool   *bool    `json:"boolValue,omitempty"`
		Int    string   `json:"intValue,omitempty"` // digits
		Double *float64 `json:"doubleValue,omitempty"`
	}

	otlpScope struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
)

// Kinds of spans.
const (
	spanInternal = 1
	spanClient   = 3
)

// WriteOTLP writes one trace: the run is its root span, hooks, steps and
// tests are its children, and the hooks and calls of a test are the test's. The ids
// are derived from the record, so the same record gives the same trace.
func WriteOTLP(w io.Writer, r *result.Run, _ render.Options) error {
	duration := strconv.FormatFloat(r.DurationMS, 'g', -1, 64)
	sum := sha256.Sum256([]byte(r.Started.Format(time.RFC3339Nano) + "\x00" + r.Command + "\x00" + duration))
	t := &trace{w: render.NewJSON(w), id: hex.EncodeToString(sum[:16]), start: r.Started}
	t.w.Put(`{"resourceSpans":[{"resource":{"attributes":`)
	name := newText("service.name", cmp.Or(r.Tool.Name, "mcptest"))
	t.w.Value([]otlpAttribute{name, newText("service.version", r.Tool.Version)})
	t.w.Put(`},"scopeSpans":[{"scope":`)
	t.w.Value(otlpScope{Name: "mcptest", Version: term.Escape(r.Tool.Version)})
	t.w.Put(`,"spans":[`)
	root := t.writeRoot(r)
	for i := range r.Phases {
		t.writePhase(&r.Phases[i], root, fmt.Sprint("phase ", i))
	}
	for c, err := range r.Cases.All() {
		if err != nil {
			return err
		}
		t.testCase(c, root)
	}
	t.w.Put("\n]}]}]}\n")
	return t.w.Flush()
}

type trace struct {
	w     render.JSONWriter
	id    string
	start time.Time
}

func newText(key, value string) otlpAttribute {
	line := render.OneLine(value, 4*render.LongestLine)
	return otlpAttribute{key, otlpValue{String: &line}}
}

func newReal(key string, value float64) otlpAttribute {
	return otlpAttribute{key, otlpValue{Double: &value}}
}

func newInteger(key string, value int) otlpAttribute {
	return otlpAttribute{key, otlpValue{Int: strconv.Itoa(value)}}
}

func newBoolean(key string, value bool) otlpAttribute {
	return otlpAttribute{key, otlpValue{Bool: &value}}
}

// formatNano converts a time of the run to nanoseconds since 1970.
func (t *trace) formatNano(ms float64) string {
	if t.start.Year() < 1970 || t.start.Year() > 2200 {
		return strconv.FormatInt(int64(max(ms, 0)*1e6), 10)
	}
	return strconv.FormatInt(t.start.UnixNano()+int64(ms*1e6), 10)
}

// traceSpan is a span. Its id is computed from its identity.
type traceSpan struct {
	parent              string // the id of its parent, "" for the root
	identity, name      string
	kind                int
	startMS, durationMS float64
	status              result.Status
	message             string // of a failure
	attrs               []otlpAttribute
	events              []otlpEvent
}

// newEvent returns an event of a span.
func (t *trace) newEvent(ms float64, name string, attrs ...otlpAttribute) otlpEvent {
	return otlpEvent{TimeUnixNano: t.formatNano(ms), Name: name, Attributes: attrs}
}

// writeSpan writes a span and returns its id.
func (t *trace) writeSpan(sp traceSpan) (id string) {
	sum := sha256.Sum256([]byte(t.id + "\x00" + sp.identity))
	id = hex.EncodeToString(sum[:8])
	t.w.Item(otlpSpan{
		TraceID:           t.id,
		SpanID:            id,
		ParentSpanID:      sp.parent,
		Name:              render.OneLine(cmp.Or(sp.name, "?"), 200),
		Kind:              sp.kind,
		StartTimeUnixNano: t.formatNano(sp.startMS),
		EndTimeUnixNano:   t.formatNano(sp.startMS + max(sp.durationMS, 0)),
		Attributes:        sp.attrs,
		Events:            sp.events,
		Status:            sp.describeStatus(),
	})
	return id
}

func (sp *traceSpan) describeStatus() otlpStatus {
	switch sp.status {
	case result.Pass:
		return otlpStatus{Code: 1}
	case result.Fail, result.Error, result.Inconclusive:
		return otlpStatus{Code: 2, Message: render.OneLine(sp.message, render.LongestLine)}
	}
	return otlpStatus{}
}

// writeRoot writes the span of the run and returns its id.
func (t *trace) writeRoot(r *result.Run) string {
	status := result.Pass
	if r.ExitCode != 0 {
		status = result.Fail
	}
	word, _ := explain.Verdict(r)
	s := r.Summary
	attrs := []otlpAttribute{
		newText("mcptest.command", r.Command),
		newInteger("mcptest.exit_code", r.ExitCode),
		newInteger("mcptest.tests", s.Total),
		newInteger("mcptest.passed", s.Passed),
		newInteger("mcptest.failed", s.Failed),
		newInteger("mcptest.errored", s.Errored),
		newInteger("mcptest.skipped", s.Skipped),
	}
	if s.Inconclusive > 0 {
		attrs = append(attrs, newInteger("mcptest.inconclusive", s.Inconclusive))
	}
	for _, m := range r.Rollups {
		attrs = append(attrs, newReal("mcptest.metric."+term.Escape(m.Name), m.Mean))
	}
	for _, c := range explain.ListCoverages(r, false) {
		attrs = append(attrs, newText("mcptest.coverage."+c.Server, c.Line))
	}
	var events []otlpEvent
	for _, f := range r.Findings {
		events = append(events, t.newEvent(r.DurationMS, render.OneLine(cmp.Or(explain.KindOf(f), "finding"), 200),
			newText("severity", f.Severity), newText("message", f.Message), newText("mcptest.server", f.Server)))
	}
	return t.writeSpan(traceSpan{
		identity:   "run",
		name:       cmp.Or(r.Tool.Name, "mcptest") + " run",
		kind:       spanInternal,
		durationMS: r.DurationMS,
		status:     status,
		message:    word,
		attrs:      attrs,
		events:     events,
	})
}

func (t *trace) writePhase(ph *result.Phase, parent, identity string) {
	attrs := []otlpAttribute{
		newText("mcptest.phase", ph.Phase),
		newText("mcptest.kind", ph.Kind),
		newText("code.file.path", ph.File),
		newInteger("code.line.number", ph.Line),
	}
	t.writeSpan(traceSpan{
		parent:     parent,
		identity:   identity,
		name:       ph.Phase + ": " + ph.Name,
		kind:       spanInternal,
		startMS:    ph.StartMS,
		durationMS: ph.DurationMS,
		status:     ph.Status,
		message:    ph.Message,
		attrs:      attrs,
	})
}

// testCase writes a test, with the names of the semantic conventions for tests where
// they exist.
func (t *trace) testCase(c *result.Case, parent string) {
	identity := fmt.Sprint("case ", c.Index)
	attrs := []otlpAttribute{
		newText("test.case.name", c.Name),
		newText("test.suite.name", c.Suite),
		newText("test.case.result.status", string(c.Status)),
		newText("mcptest.server", c.Server),
		newText("code.file.path", c.File),
		newInteger("code.line.number", c.Line),
	}
	if c.Score != nil {
		attrs = append(attrs, newReal("mcptest.score", *c.Score))
	}
	for _, m := range c.DerivedMetrics {
		attrs = append(attrs, newReal("mcptest.metric."+term.Escape(m.Name), m.Value))
	}
	if c.Flaky {
		attrs = append(attrs, newBoolean("mcptest.flaky", true))
	}
	var events []otlpEvent
	for _, v := range c.Violations {
		events = append(events, t.newEvent(c.StartMS+c.DurationMS, "protocol violation", newText("kind", v.Kind), newText("message", v.Message)))
	}
	for _, w := range c.Warnings {
		events = append(events, t.newEvent(c.StartMS+c.DurationMS, "warning", newText("message", w)))
	}
	id := t.writeSpan(traceSpan{
		parent:     parent,
		identity:   identity,
		name:       c.Name,
		kind:       spanInternal,
		startMS:    c.StartMS,
		durationMS: c.DurationMS,
		status:     c.Status,
		message:    explain.Reason(c),
		attrs:      attrs,
		events:     events,
	})
	for i := range c.Phases {
		t.writePhase(&c.Phases[i], id, fmt.Sprint(identity, " phase ", i))
	}
	at := c.StartMS
	for i := range c.Exchanges {
		t.exchange(c, &c.Exchanges[i], id, fmt.Sprint(identity, " exchange ", i), at)
		at += c.Exchanges[i].DurationMS
	}
}

// exchange writes a call. The record does not contain the start of a call, so the
// calls of a test are written without gaps.
func (t *trace) exchange(c *result.Case, x *result.Exchange, parent, identity string, at float64) {
	method := cmp.Or(x.Method, "raw")
	name := method
	attrs := []otlpAttribute{newText("rpc.system", "jsonrpc"), newText("mcp.method.name", method)}
	if _, target, ok := strings.Cut(c.Call, " "); ok && strings.HasPrefix(c.Call, method) {
		name += " " + target
		if method == "tools/call" {
			attrs = append(attrs, newText("gen_ai.tool.name", target))
		}
	}
	if id := requestID(x.Request); id != "" {
		attrs = append(attrs, newText("jsonrpc.request.id", id))
	}
	if x.HTTP != nil {
		attrs = append(attrs, newInteger("http.response.status_code", x.HTTP.Status))
	}
	events := lists.Map(x.During, func(m result.Message) otlpEvent {
		return t.newEvent(at+m.MS, cmp.Or(m.Dir, "message"), newText("message", m.Raw))
	})
	status := result.Pass
	if x.Error != "" {
		status = result.Error
	}
	t.writeSpan(traceSpan{
		parent:     parent,
		identity:   identity,
		name:       name,
		kind:       spanClient,
		startMS:    at,
		durationMS: x.DurationMS,
		status:     status,
		message:    x.Error,
		attrs:      attrs,
		events:     events,
	})
}

// requestID returns the id of a request as text, or "".
func requestID(raw string) string {
	if len(raw) > 1<<20 {
		return ""
	}
	var head struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal([]byte(raw), &head) != nil {
		return ""
	}
	return strings.Trim(string(head.ID), `"`)
}
