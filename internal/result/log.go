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

// The names of the events in a log. Members a program does not know are to be
// skipped, and so are events it does not know.
const (
	evRunStarted   = "run_started"
	evServerUp     = "server_up"
	evServerDown   = "server_down"
	evPhase        = "phase_finished"
	evTestStarted  = "test_started"
	evTestFinished = "test_finished"
	evFinding      = "finding"
	evNote         = "note"
	evRunFinished  = "run_finished"
	eventHead      = `{"event":"`
	maxLine        = maxCase
)

// appendEvent appends an event as one line of JSON without the line feed. A
// test_finished event holds the case as it is in the record, beside its place
// in the plan.
func appendEvent(dst []byte, e Event) ([]byte, error) {
	head := func(name string) { dst = append(append(append(dst, eventHead...), name...), `",`...) }
	member := func(name string, v any) error {
		text, err := marshal(v)
		dst = append(append(key(dst, name), text...), ',')
		return err
	}
	var err error
	switch e := e.(type) {
	case RunStarted:
		head(evRunStarted)
		dst = str(dst, "schema", Schema)
		var text []byte
		if text, err = marshal(e); err == nil {
			dst = append(dst, text[1:len(text)-1]...)
		}
	case ServerUp:
		head(evServerUp)
		err = member("server", e.Server)
	case ServerDown:
		head(evServerDown)
		err = member("server", e.Server)
	case PhaseFinished:
		head(evPhase)
		dst = appendPhase(key(dst, "phase"), &e.Phase)
	case CaseStarted:
		head(evTestStarted)
		dst = str(integer(dst, "index", int64(e.Index)), "name", e.Name)
	case CaseFinished:
		head(evTestFinished)
		dst = integer(dst, "index", int64(e.Case.Index))
		dst = appendCase(key(dst, "test"), e.Case)
	case FindingSeen:
		head(evFinding)
		err = member("finding", e.Finding)
	case Noted:
		head(evNote)
		dst = str(dst, "note", e.Note)
	case RunFinished:
		head(evRunFinished)
		dst = integer(num(dst, "duration_ms", e.DurationMS), "exit_code", int64(e.ExitCode))
		dst = optStr(dst, "interrupted", e.Interrupted)
	default:
		return dst, fmt.Errorf("unknown event %T", e)
	}
	return shut(dst, '}'), err
}

// LogWriter is a Listener that writes each event as one line of JSON, at once,
// so that the log of a run that is killed ends with the last whole event.
type LogWriter struct {
	w   io.Writer
	buf []byte
	err error
}

// NewLogWriter returns a LogWriter on w.
func NewLogWriter(w io.Writer) *LogWriter { return &LogWriter{w: w} }

// Event writes one line.
func (l *LogWriter) Event(e Event, _ *Run) {
	if l.err != nil {
		return
	}
	if l.buf, l.err = appendEvent(l.buf[:0], e); l.err == nil {
		_, l.err = l.w.Write(append(l.buf, '\n'))
	}
	if cap(l.buf) > 1<<20 {
		l.buf = nil
	}
}

// Err returns the first error of writing, after which nothing is written.
func (l *LogWriter) Err() error { return l.err }

// WriteLog writes the log of a run that is over: the events that fold into
// the record, in the order of the plan.
func WriteLog(w io.Writer, r *Run) error {
	bw := bufio.NewWriterSize(w, 64<<10)
	l := NewLogWriter(bw)
	send := func(e Event) { l.Event(e, nil) }
	total := r.Summary.Total
	send(RunStarted{r.Tool, r.Suites, r.Started, total, r.Parallel, r.Command, r.Dir, r.Shard})
	for _, s := range r.Servers {
		send(ServerDown{s})
	}
	for _, p := range r.Phases {
		send(PhaseFinished{p})
	}
	if r.Cases != nil {
		for c, err := range r.Cases.All() {
			if err != nil {
				return err
			}
			send(CaseFinished{c})
		}
	}
	for _, f := range r.Findings {
		send(FindingSeen{f})
	}
	for _, n := range r.Notes {
		send(Noted{n})
	}
	send(RunFinished{r.DurationMS, r.ExitCode, r.Interrupted})
	if l.err != nil {
		return l.err
	}
	return bw.Flush()
}

// Fold reads an ndjson log and folds its events into a record: the one that
// was made by the run that wrote the log. Errors say the line. A log that
// ends before the run does gives the record so far, with a finding that says
// so and the exit code 1; one that ends in order and has lost a test is
// refused. Close the Run when done.
func Fold(log io.Reader) (*Run, error) {
	f := folder{spool: NewSpool("")}
	f.run = &Run{Schema: Schema, Cases: f.spool}
	if err := f.read(log); err != nil {
		f.spool.Close()
		return nil, err
	}
	return f.run, nil
}

type folder struct {
	run     *Run
	spool   *Spool
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
			if bad := f.line(string(text)); bad != nil {
				if err == io.EOF && f.started && !bytes.HasSuffix(line, []byte("\n")) {
					break // cut in the middle of a line
				}
				return fmt.Errorf("line %d: %w", n, bad)
			}
		}
		if err == io.EOF {
			break
		}
	}
	if !f.started {
		return errors.New("no run_started event: this is no log of a run")
	}
	have := f.run.Summary.Total
	if f.ended && have != f.planned {
		return fmt.Errorf("the log is damaged: it announces %d tests, and it holds %d", f.planned, have)
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

// line folds one event. The members are read in one pass, which is why the
// event's name comes last to be looked at.
func (f *folder) line(text string) error {
	d := scanner{s: text}
	var event string
	var c Case
	raw := map[string]string{}
	isCase := strings.HasPrefix(text, eventHead+evTestFinished)
	d.object(func(name string) {
		switch {
		case name == "event":
			event = d.str()
		case isCase && name == "index":
			c.Index = d.int()
		case isCase && name == "test":
			decodeCase(&d, &c)
		default:
			raw[name] = d.raw()
		}
	})
	if d.err == nil && d.next() != 0 {
		d.fail("text after the event")
	}
	if d.err != nil {
		return fmt.Errorf("column %d: %s", d.err.offset+1, d.err.msg)
	}
	if event == evTestFinished && !isCase {
		return errors.New(`want "event" as the first member`)
	}
	return f.event(event, raw, text, &c)
}

func (f *folder) event(event string, raw map[string]string, text string, c *Case) error {
	if !f.started && event != evRunStarted {
		return fmt.Errorf("event %s before run_started: this is no log of a run", strconv.Quote(event))
	}
	if f.ended {
		return fmt.Errorf("event %s after run_finished", strconv.Quote(event))
	}
	var err error
	into := func(name string, v any) { err = unmarshal(name, raw[name], v) }
	switch event {
	case evRunStarted:
		return f.start(raw["schema"], text)
	case evServerUp:
		var e ServerUp
		into("server", &e.Server)
		f.run.Apply(e)
	case evServerDown:
		var e ServerDown
		into("server", &e.Server)
		f.run.Apply(e)
	case evPhase:
		var e PhaseFinished
		d := scanner{s: raw["phase"]}
		if decodePhase(&d, &e.Phase); d.err != nil {
			return fmt.Errorf("phase: %s", d.err.msg)
		}
		f.run.Apply(e)
	case evTestFinished:
		if c.Status == "" {
			return errors.New(`no "test"`)
		}
		if err = f.spool.Put(c); err == nil {
			f.run.Apply(CaseFinished{c})
		}
	case evFinding:
		var e FindingSeen
		into("finding", &e.Finding)
		f.run.Apply(e)
	case evNote:
		var e Noted
		into("note", &e.Note)
		f.run.Apply(e)
	case evRunFinished:
		var e RunFinished
		err = json.Unmarshal([]byte(text), &struct {
			DurationMS  *float64 `json:"duration_ms"`
			ExitCode    *int     `json:"exit_code"`
			Interrupted *string  `json:"interrupted"`
		}{&e.DurationMS, &e.ExitCode, &e.Interrupted})
		f.ended = true
		f.run.Apply(e)
	}
	return err
}

func (f *folder) start(schema, text string) error {
	if f.started {
		return errors.New("a second run_started")
	}
	if err := checkSchema(strings.Trim(schema, `"`)); err != nil {
		return err
	}
	var e RunStarted
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		return plainError("run_started", err)
	}
	f.started, f.planned = true, e.Total
	f.run.Apply(e)
	return nil
}

func checkSchema(got string) error {
	switch got {
	case Schema:
		return nil
	case "":
		return fmt.Errorf("no schema: want a record of the schema %q", Schema)
	}
	return fmt.Errorf("schema %q: this program reads %q", got, Schema)
}

func unmarshal(name, text string, v any) error {
	if text == "" {
		return fmt.Errorf("no %q", name)
	}
	if err := json.Unmarshal([]byte(text), v); err != nil {
		return plainError(name, err)
	}
	return nil
}

// plainError says in plain words what encoding/json says in Go's.
func plainError(name string, err error) error {
	var te *json.UnmarshalTypeError
	if errors.As(err, &te) {
		if te.Field != "" {
			name += "." + te.Field
		}
		return fmt.Errorf("%s: a %s is of no use here", name, te.Value)
	}
	return fmt.Errorf("%s: %w", name, err)
}
