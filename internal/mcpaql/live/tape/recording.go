package tape

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/secret"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/tape/cassette"
)

// About holds the name of a run and its task: the note in the header of its cassette.
type About struct {
	Target  string              `json:"target"`
	Repeat  string              `json:"repeat"`
	RunID   string              `json:"live"`
	Options map[string][]string `json:"options"` // of the command line, by name
}

// The kinds of events.
const (
	opening = "open"
	calling = "call"
	pausing = "pause"
	valuing = "values"
	ending  = "end"
)

// event is one interaction of a run with the outside. Its messages are frames; the
// note that follows them is the event itself.
type event struct {
	Event    string `json:"event"`
	Messages int    `json:"messages,omitempty"` // frames before the note

	Variant  string      `json:"variant,omitempty"` // of a session
	Protocol string      `json:"protocol,omitempty"`
	Server   jsonv.Value `json:"server,omitzero"` // serverInfo
	None     bool        `json:"none,omitempty"`  // there is no such launch

	Method     string      `json:"method,omitempty"` // of a call
	Answered   bool        `json:"answered,omitempty"`
	Violations []violation `json:"violations,omitempty"`
	Late       []violation `json:"session_violations,omitempty"` // that belong to no call
	Dropped    int         `json:"dropped_messages,omitempty"`
	Died       string      `json:"died,omitempty"` // why the session ended

	Failed *failure    `json:"failed,omitempty"` // there is no session, or no response
	Values jsonv.Value `json:"values,omitzero"`  // of --values
	Ends   []end       `json:"ended,omitempty"`  // contexts that ended

	session, line int
	begin, over   time.Duration
	frames        []cassette.Frame
}

type violation struct {
	Kind string `json:"kind"`
	Says string `json:"says"`
}

func violations(list []violation) []protocol.Violation {
	return evidence.Each(list, func(v violation) protocol.Violation { return protocol.Violation{Kind: v.Kind, Msg: v.Says} })
}

// failure is the reason why there is no session, or no response.
type failure struct {
	Timeout bool   `json:"timeout,omitempty"`
	Says    string `json:"says"`
}

func (f *failure) Error() string { return f.Says }

// Unwrap returns a timeout error if the failure was a timeout.
func (f *failure) Unwrap() error {
	if f.Timeout {
		return &mcp.TimeoutError{}
	}
	return nil
}

// Create creates the cassette of a run.
func Create(path string, h cassette.Header, about About, secrets []string) (*cassette.Writer, error) {
	redact := secret.NewRedactor()
	redact.Add(secrets...)
	h.Recorded, h.Masks = time.Now().UTC(), []string{cassette.MaskForms}
	var err error
	if h.Note, err = json.Marshal(about); err != nil {
		return nil, err
	}
	return cassette.Create(path, h, redact)
}

// Recording is the cassette of a run.
type Recording struct {
	*cassette.Cassette
	About
	Values jsonv.Value // see [Tape.Introspected]

	events []*event
}

// Open reads the cassette of a run. Errors in its content are a [*cassette.Error].
func Open(path string) (*Recording, error) {
	c, err := cassette.Open(path)
	switch wrong, ok := errors.AsType[*cassette.Error](err); {
	case ok:
		wrong.Says += "; record the run again with --record"
		return nil, wrong
	case err != nil:
		return nil, err
	}
	rec := &Recording{Cassette: c}
	if err := rec.read(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return rec, nil
}

func (rec *Recording) read() error {
	if err := json.Unmarshal(rec.Note, &rec.About); err != nil || rec.RunID == "" {
		return rec.wrong(1, "the cassette is not one of a live run; record the run with --record")
	}
	var frames []cassette.Frame
	last, line := &event{}, 1
	for _, f := range rec.Frames {
		line = f.Line
		if f.Note == nil {
			frames = append(frames, f)
			continue
		}
		last = &event{session: f.Session, line: f.Line, begin: f.At, over: f.At, frames: frames}
		if err := json.Unmarshal(f.Note, last); err != nil {
			return rec.wrong(f.Line, "the note cannot be read: %s", err)
		}
		if len(frames) != last.Messages {
			return rec.wrong(f.Line, "the recording was changed: expected %d messages before this line, got %d; record the run again", last.Messages, len(frames))
		}
		if len(frames) > 0 {
			last.begin, last.line, frames = frames[0].At, frames[0].Line, nil
		}
		if rec.events = append(rec.events, last); last.Event == valuing {
			rec.Values = last.Values
		}
	}
	if last.Event != ending {
		return rec.wrong(line, "the recording is not complete: its run was killed, or the file was cut; record the run again")
	}
	return nil
}

func (rec *Recording) wrong(line int, format string, args ...any) *cassette.Error {
	return &cassette.Error{File: rec.File, Line: line, Says: fmt.Sprintf(format, args...)}
}
