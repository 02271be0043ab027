package opening

import (
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/handshake"
)

// A reading is how a client takes answers: each row was observed by running the SDK, or read
// in the source of the client. The zero value lets a client in.
type reading struct {
	name        string           // in sentences: "its SDK"
	sdk         handshake.Reader // whose parser reads handshake and lists; "" for none
	looseID     bool             // a text stands for the number
	exactID     bool             // an id of another type, or null, is not the response
	strict      bool             // envelope: further members make it no response
	strictLines bool             // a line of standard output that is no JSON ends the connection
	versions    []string         // what the answer to initialize may name; nil for anything
	status      bool             // a status of 400 and above to initialize or a list ends it
	types       bool             // so does another content type than JSON and an event stream
	refusal     bool             // so does a status of 400 and above to notifications/initialized

	// What the answer to the probe decides.
	probe5xx    bool // a status of 500 and above ends it
	probeSilent bool // silence ends it over HTTP
	probeEnd    endOfProbe
	probeBroken bool // an answer that the connection can't read ends it, rather than the probe
	modernHints bool // a modern list needs resultType, ttlMs and cacheScope
	promise     bool // a DiscoverResult without a revision in common ends it
}

// endOfProbe is what a client does when the process ends at the probe.
type endOfProbe int

const (
	endLoses endOfProbe = iota
	endStartsAgain
)

// revisions are those that the SDKs accept in the answer to initialize.
var (
	typescriptVersions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"}
	goVersions         = []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}
)

// readings are the names of the rows.
var readings = []string{
	"typescript-sdk-1", "typescript-sdk-2", "go-sdk", "vscode", "codex", "chatgpt", "copilot", "plain",
}

// findReading returns the row of a script.
func findReading(name string) reading {
	typescript := reading{
		looseID: true, strict: true, versions: typescriptVersions, status: true, types: true, refusal: true,
	}
	switch name {
	case "typescript-sdk-1":
		typescript.name, typescript.sdk = "the TypeScript SDK 1", handshake.ReaderTS1
		return typescript
	case "typescript-sdk-2":
		typescript.name, typescript.sdk = "the TypeScript SDK 2", handshake.ReaderTS2
		typescript.probe5xx, typescript.probeSilent, typescript.probeBroken = true, true, true
		typescript.probeEnd, typescript.modernHints = endStartsAgain, true
		return typescript
	case "go-sdk":
		return reading{
			name: "the Go SDK", sdk: handshake.ReaderGo, exactID: true, strictLines: true,
			versions: goVersions, status: true, types: true, refusal: true,
			probeSilent: true, probeBroken: true,
		}
	case "vscode":
		return reading{exactID: true, status: true}
	case "codex", "copilot", "plain":
		return reading{status: true}
	case "chatgpt":
		return reading{status: true, promise: true}
	}
	return reading{}
}

// takes returns the function that recognizes the response to a request.
func (r reading) takes(id jsonv.Value) func(jsonv.Value) bool {
	return func(m jsonv.Value) bool {
		result, isError := m.Lookup("result"), isFilled(m.Lookup("error"))
		if m.Kind() != jsonv.KindObject || !m.Lookup("method").IsAbsent() || result.IsAbsent() && !isError {
			return false
		}
		if r.strict && !isStrictResponse(m) {
			return false
		}
		if r.strict && isError && m.Lookup("id").IsAbsent() {
			return false
		}
		got := m.Lookup("id")
		switch {
		case jsonv.Equal(got, id):
			return true
		case r.looseID && id.Kind() == jsonv.KindNumber:
			return got.Kind() == jsonv.KindString && strings.TrimSpace(got.Text()) == id.Literal()
		case r.exactID || r.strict:
			return false
		}
		return got.Text() == id.String() || got.String() == id.Text() || got.Kind() == jsonv.KindNull && isError
	}
}

// isFilled reports whether a member is there and not null.
func isFilled(v jsonv.Value) bool { return !v.IsAbsent() && v.Kind() != jsonv.KindNull }

// isStrictResponse reports whether the parsers of the TypeScript SDKs take a message: they
// refuse members that JSON-RPC does not have.
func isStrictResponse(m jsonv.Value) bool {
	known := []string{"jsonrpc", "id", "result"}
	if m.Lookup("result").IsAbsent() {
		known = []string{"jsonrpc", "id", "error"}
		e := m.Lookup("error")
		if !e.Lookup("code").IsInteger() || e.Lookup("message").Kind() != jsonv.KindString {
			return false
		}
	} else if m.Lookup("result").Kind() != jsonv.KindObject {
		return false
	}
	for _, key := range m.Keys() {
		if !slices.Contains(known, key) {
			return false
		}
	}
	id := m.Lookup("id")
	return m.Lookup("jsonrpc").Text() == "2.0" && (id.IsAbsent() || id.Kind() == jsonv.KindString || id.IsInteger())
}

// isReadable reports whether a content type is one that the SDKs read.
func isReadable(contentType string) bool {
	kind, _, _ := strings.Cut(contentType, ";")
	kind = strings.ToLower(strings.TrimSpace(kind))
	return kind == "application/json" || kind == "text/event-stream"
}

// Readings are the names that the member reads of a script may have.
func Readings() []string { return slices.Clone(readings) }
