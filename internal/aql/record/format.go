package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"mcptest/internal/jsonv"
	"mcptest/internal/source"
)

// A recording is a file of JSON lines: a header, then what passed between the
// run and the adapter, in its order, then {"end":true}. docs/guides/mcpaql-live.md
// describes it for users.

const (
	recordingKind    = "mcpaql-conformance live"
	recordingVersion = 1
	// MaxRecording bounds the file, in bytes.
	MaxRecording = 256 << 20
)

// recordingHeader is the first line.
type recordingHeader struct {
	Recording string              `json:"recording"` // recordingKind
	Version   int                 `json:"version"`
	Program   string              `json:"program"`
	Started   time.Time           `json:"started"`
	Target    string              `json:"target"`
	Repeat    string              `json:"repeat"`
	Run       string              `json:"run"`
	Options   map[string][]string `json:"options"` // of the command line, by name
}

// recordingLine is every other line. Which of Open, Call, Pause, Values and
// End it has says what it is.
type recordingLine struct {
	Values jsonv.Value `json:"values,omitzero"` // of --values

	Open     int         `json:"open,omitempty"` // number of the session, from 1
	Variant  string      `json:"variant,omitempty"`
	Protocol string      `json:"protocol,omitempty"`
	Server   jsonv.Value `json:"server,omitzero"` // serverInfo
	None     bool        `json:"none,omitempty"`  // there is no such launch
	Failed   string      `json:"failed,omitempty"`

	Call    int             `json:"call,omitempty"` // number of the request, from 1
	Session int             `json:"session,omitempty"`
	At      float64         `json:"at_ms,omitempty"` // since the start of the run
	MS      float64         `json:"ms,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`

	Result     json.RawMessage     `json:"result,omitempty"`
	Error      json.RawMessage     `json:"error,omitempty"`
	Raw        []byte              `json:"result_base64,omitempty"` // a result that is no JSON text
	NoAnswer   *recordedCause      `json:"no_answer,omitempty"`
	Violations []recordedViolation `json:"violations,omitempty"`
	Late       []recordedViolation `json:"session_violations,omitempty"` // that belong to no call
	Messages   int                 `json:"messages,omitempty"`           // that came during the call
	Asked      int                 `json:"asked,omitempty"`              // of them requests to the client, but for ping
	Died       string              `json:"died,omitempty"`               // why the session is over now

	Pause string           `json:"pause,omitempty"` // a duration
	Ended []recordedEnding `json:"ended,omitempty"`
	End   bool             `json:"end,omitempty"`

	line int // in the file
}

const causeTimeout = "timeout"

// recordedCause is why a call has no answer.
type recordedCause struct {
	Kind string `json:"kind"` // causeTimeout, or "other"
	Says string `json:"says"`
}

type recordedViolation struct {
	Kind string `json:"kind"`
	Says string `json:"says"`
}

// recordedEnding is the end of a context of the run, before the line's event
// or during it.
type recordedEnding struct {
	Context int    `json:"context"` // 0 is the run itself
	Before  bool   `json:"before,omitempty"`
	Says    string `json:"says"`
	Limit   string `json:"limit,omitempty"` // the option that ended it
	For     string `json:"for,omitempty"`
}

// Recording is a recorded run, see [Options.Record].
type Recording struct {
	File    string
	Program string // that made it
	Target  string
	Repeat  string
	RunID   string
	Options map[string][]string // see [Options.Recorded]
	Values  jsonv.Value

	started time.Time
	lines   []recordingLine
}

// Error says what is wrong with a recording, or where a run asked
// for something that it does not hold.
type Error struct {
	File string
	Line int // 0: none
	Says string
}

// Error begins with the file and the line.
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Says
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Says)
}

// Read reads a recording; every error is a *RecordingError.
func Read(f *source.File) (*Recording, error) {
	rec := &Recording{File: f.Name}
	wrong := func(line int, format string, args ...any) (*Recording, error) {
		return nil, &Error{f.Name, line, fmt.Sprintf(format, args...)}
	}
	n, ended := 0, false
	for text := range bytes.Lines(f.Data) {
		n++
		text = bytes.TrimSpace(text)
		switch {
		case len(text) == 0:
		case n == 1:
			var h recordingHeader
			if err := json.Unmarshal(text, &h); err != nil || h.Recording != recordingKind {
				return wrong(1, "not a recording of a live run: expected {\"recording\": %q, …} in the first line", recordingKind)
			}
			if h.Version != recordingVersion {
				return wrong(1, "the recording has version %d; this program reads version %d: record the run again", h.Version, recordingVersion)
			}
			rec.Program, rec.Target, rec.Repeat, rec.RunID, rec.Options, rec.started = h.Program, h.Target, h.Repeat, h.Run, h.Options, h.Started
		default:
			l := recordingLine{line: n}
			if err := json.Unmarshal(text, &l); err != nil {
				return wrong(n, "the line cannot be read: %s", err)
			}
			if !l.Values.IsAbsent() {
				rec.Values = l.Values
				continue
			}
			ended = l.End
			rec.lines = append(rec.lines, l)
		}
	}
	switch {
	case n == 0:
		return wrong(0, "the file is empty: it is not a recording of a live run")
	case !ended:
		return wrong(n, "the recording is not complete: its run was killed, or the file was cut; record the run again")
	}
	return rec, nil
}
