package result

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Names of the events in a log. Readers must ignore unknown members and events.
const (
	evRunStarted   = "run_started"
	evServerUp     = "server_up"
	evServerDown   = "server_down"
	evPhase        = "phase_finished"
	evTestStarted  = "test_started"
	evTestFinished = "test_finished"
	evFinding      = "finding"
	evCoverage     = "coverage"
	evNote         = "note"
	evRunFinished  = "run_finished"
	eventHead      = `{"event":"`
	maxLine        = maxCase
)

// marshalEvent returns an event as one line of JSON without the line feed. A
// test_finished event contains the case as in the record, its index in the plan, and
// the explanation of a failure.
func marshalEvent(e Event, explanation string) ([]byte, error) {
	var body any = e
	switch e := e.(type) {
	case RunStarted:
		body = struct {
			Schema string `json:"schema"`
			RunStarted
		}{Schema, e}
	case CaseFinished:
		body = struct {
			Index       int    `json:"index"`
			Test        *Case  `json:"test"`
			Explanation string `json:"explanation,omitempty"`
		}{e.Case.Index, fillLists(e.Case), explanation}
	case RunFinished:
		e.DurationMS = makeFinite(e.DurationMS)
		body = e
	}
	text, err := marshal(body)
	if err != nil {
		return nil, err
	}
	return append([]byte(eventHead+e.event()+`",`), text[1:]...), nil
}

// LogWriter is a Listener that writes each event immediately as one line of JSON, so
// that the log of a killed run ends with the last complete event.
type LogWriter struct {
	// Explain returns the text about a case that did not pass; may be nil.
	Explain func(*Case, *Run) string

	w   io.Writer
	err error
}

// NewLogWriter returns a LogWriter on w.
func NewLogWriter(w io.Writer) *LogWriter { return &LogWriter{w: w} }

// Event writes one event.
func (l *LogWriter) Event(e Event, r *Run) {
	if l.err != nil {
		return
	}
	explanation := ""
	if f, ok := e.(CaseFinished); ok && l.Explain != nil && f.Case.Status.Failed() {
		explanation = l.Explain(f.Case, r)
	}
	line, err := marshalEvent(e, explanation)
	if err == nil {
		_, err = l.w.Write(append(line, '\n'))
	}
	l.err = err
}

// Err returns the first write error, after which nothing is written.
func (l *LogWriter) Err() error { return l.err }

// WriteLog writes the log of a finished run: the events that result in the record, in
// plan order. explain is that of [LogWriter].
func WriteLog(w io.Writer, r *Run, explain func(*Case, *Run) string) error {
	bw := bufio.NewWriterSize(w, 64<<10)
	l := NewLogWriter(bw)
	l.Explain = explain
	send := func(e Event) { l.Event(e, r) }
	total := r.Summary.Total
	send(RunStarted{r.Tool, r.Suites, r.Started, total, r.Parallel, r.Command, r.Dir, r.Origin, r.Shard})
	for _, s := range r.Servers {
		send(ServerDown{s})
	}
	for _, p := range r.Phases {
		send(PhaseFinished{p})
	}
	for c, err := range r.Cases.All() {
		if err != nil {
			return err
		}
		send(CaseFinished{c})
	}
	for _, f := range r.Findings {
		send(FindingSeen{f})
	}
	if r.Coverage != nil {
		send(CoverageMeasured{r.Coverage})
	}
	for _, n := range r.Notes {
		send(Noted{n})
	}
	send(RunFinished{r.DurationMS, r.ExitCode, r.Interrupted, r.Times})
	if l.err != nil {
		return l.err
	}
	return bw.Flush()
}

// Fold reads an ndjson log and applies its events, which results in the record of the
// logged run. Errors contain the line. A log that ends before the run results in the
// record so far, with a finding and the exit code 1; a complete log with a missing
// test is an error. The caller must close the Run.
func Fold(log io.Reader) (*Run, error) {
	f := folder{run: &Run{Schema: Schema, Cases: NewSpool("")}}
	if err := f.read(log); err != nil {
		f.run.Close()
		return nil, err
	}
	return f.run, nil
}

type folder struct {
	run     *Run
	started bool
	ended   bool
	planned int
}

func (f *folder) read(log io.Reader) error {
	br := bufio.NewReaderSize(log, 64<<10)
	for n := 1; ; n++ {
		line, err := readLine(br)
		if err != nil && err != io.EOF {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if text := bytes.TrimSpace(line); len(text) > 0 {
			if bad := f.foldLine(text); bad != nil {
				if err == io.EOF && f.started && !bytes.HasSuffix(line, []byte("\n")) {
					break // the log ends in the middle of a line
				}
				return fmt.Errorf("line %d: %w", n, bad)
			}
		}
		if err == io.EOF {
			break
		}
	}
	if !f.started {
		return errors.New("no run_started event: this is not the log of a run")
	}
	have := f.run.Summary.Total
	if f.ended && have != f.planned {
		return fmt.Errorf("the log is damaged: it announces %d tests, but contains %d", f.planned, have)
	}
	if !f.ended {
		f.run.Apply(FindingSeen{Finding{
			Kind: Incomplete, Severity: "error",
			Message: fmt.Sprintf("the record ends before the run does: it has %d of %d tests", have, f.planned),
		}})
		f.run.Apply(RunFinished{ExitCode: 1})
	}
	return nil
}

func readLine(br *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := br.ReadSlice('\n')
		if line == nil && err == nil {
			return part, nil
		}
		line = append(line, part...)
		if err != bufio.ErrBufferFull {
			return line, err
		}
		if len(line) > maxLine {
			return nil, fmt.Errorf("longer than %d bytes", maxLine)
		}
	}
}

// logLine has the members of all events.
type logLine struct {
	Event  string `json:"event"`
	Schema string `json:"schema"`
	RunStarted
	Server   *Server         `json:"server"`
	Phase    *Phase          `json:"phase"`
	Index    int             `json:"index"`
	Test     json.RawMessage `json:"test"`
	Finding  *Finding        `json:"finding"`
	Note     *string         `json:"note"`
	Coverage *Coverage       `json:"coverage"`
	RunFinished
}

// foldLine applies one event.
func (f *folder) foldLine(text []byte) error {
	var l logLine
	if err := json.Unmarshal(text, &l); err != nil {
		return explainReadError("", err)
	}
	if !f.started && l.Event != evRunStarted {
		return fmt.Errorf("event %s before run_started: this is not the log of a run", strconv.Quote(l.Event))
	}
	if f.ended {
		return fmt.Errorf("event %s after run_finished", strconv.Quote(l.Event))
	}
	switch l.Event {
	case evRunStarted:
		return f.start(&l)
	case evTestFinished:
		return f.test(&l)
	case evRunFinished:
		f.ended = true
		f.run.Apply(l.RunFinished)
		return nil
	}
	return f.foldEvent(&l)
}

func (f *folder) start(l *logLine) error {
	if f.started {
		return errors.New("a second run_started")
	}
	if err := checkSchema(l.Schema); err != nil {
		return err
	}
	f.started, f.planned = true, l.Total
	f.run.Apply(l.RunStarted)
	return nil
}

func (f *folder) test(l *logLine) error {
	if len(l.Test) == 0 {
		return errors.New(`no "test"`)
	}
	c := &Case{Index: l.Index}
	if err := unmarshalCase(l.Test, c); err != nil {
		return fmt.Errorf("test: %w", err)
	}
	if err := f.run.Cases.Put(c); err != nil {
		return err
	}
	f.run.Apply(CaseFinished{c})
	return nil
}

// foldEvent applies the events between the start and the end of a run, other than tests.
// It ignores unknown events.
func (f *folder) foldEvent(l *logLine) error {
	switch l.Event {
	case evServerUp:
		return applyBody(f.run, "server", l.Server, func(s Server) Event { return ServerUp{s} })
	case evServerDown:
		return applyBody(f.run, "server", l.Server, func(s Server) Event { return ServerDown{s} })
	case evPhase:
		if l.Phase != nil {
			if err := l.Phase.Status.check(); err != nil {
				return fmt.Errorf("phase: %w", err)
			}
		}
		return applyBody(f.run, "phase", l.Phase, func(p Phase) Event { return PhaseFinished{p} })
	case evFinding:
		return applyBody(f.run, "finding", l.Finding, func(seen Finding) Event { return FindingSeen{seen} })
	case evCoverage:
		return applyBody(f.run, "coverage", l.Coverage, func(c Coverage) Event { return CoverageMeasured{&c} })
	case evNote:
		return applyBody(f.run, "note", l.Note, func(n string) Event { return Noted{n} })
	}
	return nil
}

// applyBody applies the event with a body, which must be the member called name.
func applyBody[T any](r *Run, name string, body *T, event func(T) Event) error {
	if body == nil {
		return fmt.Errorf("no %q", name)
	}
	r.Apply(event(*body))
	return nil
}

func checkSchema(got string) error {
	switch got {
	case Schema:
		return nil
	case "":
		return fmt.Errorf("no schema: expected a record of the schema %q", Schema)
	}
	return fmt.Errorf("schema %q: this program reads %q", got, Schema)
}

// explainReadError replaces messages of encoding/json that use Go terms. name is the
// decoded member, or empty for a whole document.
func explainReadError(name string, err error) error {
	if te, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		path := strings.Trim(name+"."+te.Field, ".")
		if path == "" {
			return fmt.Errorf("unexpected %s", te.Value)
		}
		return fmt.Errorf("%s: unexpected %s", path, te.Value)
	}
	if name == "" {
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}
