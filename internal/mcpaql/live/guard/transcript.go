package guard

import (
	"fmt"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/mcpaql/evidence"
)

// maxKeptTranscript is how many bytes of the transcript a run keeps.
const maxKeptTranscript = 16 << 20

// readEnvelope finds the envelope in an answer: the first text block that is an object with
// success, or else structuredContent.
func (a *caller) readEnvelope(r *Reply, x *mcp.Exchange) {
	if r.Cause = x.Cause; r.Cause != nil {
		return
	}
	if r.rpc = x.RPCError(); r.rpc != nil {
		return
	}
	v, err := jsonv.Parse(x.Result)
	if err != nil {
		r.Cause = fmt.Errorf("the result cannot be read: %w", err)
		return
	}
	r.raw = v
	for _, block := range v.Lookup("content").Elems() {
		if block.Lookup("type").Text() != "text" {
			continue
		}
		env, err := jsonv.Parse([]byte(block.Lookup("text").Text()))
		if err == nil && !env.Lookup("success").IsAbsent() {
			r.Envelope = parseWrapped(env)
			break
		}
	}
	structured := v.Lookup("structuredContent")
	wrapped := parseWrapped(structured)
	switch {
	case r.Envelope.IsAbsent() && !structured.Lookup("success").IsAbsent():
		r.Envelope = wrapped
	case !r.Envelope.IsAbsent() && structured.Kind() == jsonv.KindObject && !jsonv.Equal(wrapped, r.Envelope):
		a.rows.Fail("envelopes.same", *r, "structuredContent is not what the text says")
	}
	a.rows.Count("envelopes")
	// The flag, and the place of a domain error (MCP 4.1, 4.2).
	isUsable := r.IsOK() || r.IsRefused() && r.IsDocumented()
	if !r.Envelope.IsAbsent() && r.raw.Lookup("isError").Bool() && isUsable {
		a.rows.Fail("envelopes.is-error", *r,
			"isError is true although the caller can act on the response (%s)", r.FormatBrief())
	}
}

// appendTranscript adds a call to the transcript.
func (a *caller) appendTranscript(r Reply, x *mcp.Exchange) {
	var whole jsonv.Value // the size of an answer that is not kept as a whole
	args, answer := a.Redact(r.Args), a.RedactAnswer(r).Without(evidence.Additions)
	if size := len(args.Append(nil)); size > maxKeptAnswer {
		args = jsonv.ObjectOf("operation", r.operation(), "x_bytes", size)
	}
	if size := len(answer.Append(nil)); size > maxKeptAnswer {
		answer, whole = jsonv.String(display.Truncate(answer.String(), 1000)), jsonv.Int(int64(size))
	}
	if a.kept > maxKeptTranscript {
		answer = jsonv.Value{}
	}
	a.kept += len(answer.Append(nil)) + len(args.Append(nil))
	a.Transcript = append(a.Transcript, jsonv.ObjectOf("n", r.Number, "tool", r.Tool, "arguments", args,
		"ms", float64(x.Elapsed.Microseconds())/1000, "bytes", whole, "answer", answer))
}

// Redact returns a value in the form in which it may be stored.
func (a *caller) Redact(v jsonv.Value) jsonv.Value { return evidence.RedactKeys(v, a.Sensitive) }

// RedactAnswer returns an answer in the form in which it may be stored.
func (a *caller) RedactAnswer(r Reply) jsonv.Value { return a.Redact(r.Response()) }
