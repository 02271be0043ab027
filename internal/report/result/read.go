package result

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"mcptest/internal/base/jsonv"
)

// Read reads a record in either format: the JSON of WriteJSON or the log of a
// LogWriter. The caller must close the Run.
func Read(rd io.Reader) (*Run, error) {
	br := bufio.NewReaderSize(rd, 64<<10)
	head, _ := br.Peek(len(eventHead) + 64)
	if name := jsonv.DetectEncoding(head); name != "" {
		return nil, fmt.Errorf("the file is encoded in %s, not UTF-8; %s", name, jsonv.SaveAsUTF8)
	}
	if bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte(eventHead)) {
		return Fold(br)
	}
	return ReadJSON(br)
}

// ReadJSON reads a record written by WriteJSON. It reads the text in one pass and
// stores the cases in a Spool, so that a record can have any number of tests. Errors
// contain the line. The caller must close the Run.
func ReadJSON(rd io.Reader) (*Run, error) {
	lines := &lineCounter{r: rd, line: 1}
	r := &recordReader{run: &Run{Cases: NewSpool("")}, lines: lines, dec: json.NewDecoder(lines)}
	if err := r.record(); err != nil {
		r.run.Close()
		return nil, err
	}
	return r.run, nil
}

// ReadHead reads a record in either format as far as its time: the result has Schema,
// Suites and Started only, and no cases. It fails if the text does not begin as a record does.
func ReadHead(rd io.Reader) (*Run, error) {
	run := &Run{}
	dec := json.NewDecoder(rd)
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf("this is not the record of a run")
	}
	fields := map[string]any{"schema": &run.Schema, "suites": &run.Suites, "started": &run.Started}
	for run.Started.IsZero() && dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		key, _ := name.(string)
		into := fields[key]
		if into == nil {
			into = new(json.RawMessage)
		}
		if err := dec.Decode(into); err != nil {
			return nil, err
		}
	}
	return run, checkSchema(run.Schema)
}

// recordReader reads the members of a record one by one, and keeps only one element
// of "tests" at a time.
type recordReader struct {
	run     *Run
	counted Run // computed from the tests, to compare with the record's summary
	lines   *lineCounter
	dec     *json.Decoder
}

func (r *recordReader) record() error {
	if t, err := r.dec.Token(); err != nil || t != json.Delim('{') {
		if r.lines.err != nil {
			return r.explainFailure(err)
		}
		return fmt.Errorf("line %d: this is not the record of a run: expected an object of the schema %q", r.line(), Schema)
	}
	fields := listMembers(r.run)
	missing := []string{"schema", "tool", "started", "duration_ms", "exit_code", "summary", "tests", "servers"}
	for r.dec.More() {
		t, err := r.dec.Token()
		if err != nil {
			return r.explainFailure(err)
		}
		name, _ := t.(string)
		missing = slices.DeleteFunc(missing, func(m string) bool { return m == name })
		if name == "tests" {
			err = r.tests()
		} else {
			err = r.readField(name, fields[name])
		}
		if err != nil {
			return err
		}
		r.line()
	}
	if _, err := r.dec.Token(); err != nil { // the closing brace
		return r.explainFailure(err)
	}
	if err := checkSchema(r.run.Schema); err != nil {
		return err
	}
	if _, err := r.dec.Token(); err != io.EOF {
		return fmt.Errorf("line %d: text after the end of the record", r.line())
	}
	if err := checkCounts(r.run.Summary, r.counted.Summary); err != nil {
		return err
	}
	if len(missing) > 0 {
		return fmt.Errorf("the record is damaged: it has no %q", missing[0])
	}
	return nil
}

// listMembers returns where the members of a record are stored, except for its tests.
func listMembers(run *Run) map[string]any {
	return map[string]any{
		"schema":         &run.Schema,
		"tool":           &run.Tool,
		"suites":         &run.Suites,
		"started":        &run.Started,
		"duration_ms":    &run.DurationMS,
		"times":          &run.Times,
		"exit_code":      &run.ExitCode,
		"interrupted":    &run.Interrupted,
		"parallel":       &run.Parallel,
		"command":        &run.Command,
		"dir":            &run.Dir,
		"shard":          &run.Shard,
		"summary":        &run.Summary,
		"phases":         &run.Phases,
		"metric_rollups": &run.Rollups,
		"findings":       &run.Findings,
		"origin":         &run.Origin,
		"servers":        &run.Servers,
		"coverage":       &run.Coverage,
		"notes":          &run.Notes,
	}
}

// line returns the current line, and discards the text before it.
func (r *recordReader) line() int { return r.lines.countTo(r.dec.InputOffset()) }

// explainFailure returns a syntax or read error with its line.
func (r *recordReader) explainFailure(err error) error {
	switch {
	case r.lines.err != nil:
		return fmt.Errorf("line %d: read the record: %w", r.line(), r.lines.err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("line %d: the record ends too early", r.lines.last())
	}
	return fmt.Errorf("line %d: %w", r.line(), err)
}

func (r *recordReader) readField(name string, into any) error {
	var raw json.RawMessage
	if err := r.dec.Decode(&raw); err != nil {
		return r.explainFailure(fmt.Errorf("%s: %w", name, err))
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("line %d: %w", r.line(), explainReadError(name, err))
	}
	return nil
}

// tests reads the list of cases into the spool.
func (r *recordReader) tests() error {
	if t, err := r.dec.Token(); err != nil || t != json.Delim('[') {
		return fmt.Errorf("line %d: %q must be a list", r.line(), "tests")
	}
	for r.dec.More() {
		c := &Case{Index: r.run.Cases.Len()}
		var raw json.RawMessage
		if err := r.dec.Decode(&raw); err != nil {
			return r.explainFailure(err)
		}
		if err := unmarshalCase(raw, c); err != nil {
			line := r.lines.countTo(r.dec.InputOffset() - int64(len(raw)))
			return fmt.Errorf("line %d: test %d: %w", line, c.Index+1, err)
		}
		r.line()
		r.counted.Summary.Add(c)
		if err := r.run.Cases.Put(c); err != nil {
			return err
		}
	}
	if _, err := r.dec.Token(); err != nil { // the closing bracket
		return r.explainFailure(err)
	}
	return nil
}

// checkCounts compares a record's summary with the counted tests.
func checkCounts(said, counted Summary) error {
	for _, c := range []struct {
		what       string
		said, have int
	}{
		{"tests", said.Total, counted.Total},
		{"passed", said.Passed, counted.Passed},
		{"failed", said.Failed, counted.Failed},
		{"errored", said.Errored, counted.Errored},
		{"skipped", said.Skipped, counted.Skipped},
		{"inconclusive", said.Inconclusive, counted.Inconclusive},
	} {
		if c.said != c.have {
			return fmt.Errorf("the record is damaged: its summary counts %d %s, and it has %d", c.said, c.what, c.have)
		}
	}
	return nil
}

// lineCounter returns the line of an offset in the text. It keeps the text from the
// last offset to the end of what was read.
type lineCounter struct {
	r    io.Reader
	kept []byte
	from int64 // offset of kept
	line int   // at from
	err  error // read error
}

func (l *lineCounter) Read(p []byte) (int, error) {
	if len(l.kept) > maxCase {
		l.err = fmt.Errorf("a value of more than %d bytes", maxCase)
		return 0, l.err
	}
	n, err := l.r.Read(p)
	l.kept = append(l.kept, p[:n]...)
	if err != nil && err != io.EOF {
		l.err = err
	}
	return n, err
}

// countTo returns the line of an offset, which must not be less than the last one.
func (l *lineCounter) countTo(offset int64) int {
	passed := l.kept[:min(max(offset-l.from, 0), int64(len(l.kept)))]
	l.line += bytes.Count(passed, []byte("\n"))
	l.kept = l.kept[len(passed):]
	l.from += int64(len(passed))
	return l.line
}

// last returns the last line of the text.
func (l *lineCounter) last() int { return l.countTo(l.from + int64(len(l.kept))) }
