package result

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
)

// WriteJSON writes the record as JSON, with the members in the order of Run and
// "tests" after the summary. The cases are written one by one as they are read. With
// indent, the text is indented by two spaces per level.
func WriteJSON(w io.Writer, r *Run, indent bool) error {
	jw := &jsonWriter{w: bufio.NewWriterSize(w, 64<<10), indent: indent}
	jw.byte('{')
	for _, m := range r.members() {
		if m.omit {
			continue
		}
		jw.name(m.name)
		if m.name == "tests" {
			jw.cases(r.Cases)
			continue
		}
		text, err := marshal(m.value)
		if err != nil {
			return fmt.Errorf("write %s: %w", m.name, err)
		}
		jw.value(text, "  ")
	}
	jw.line("")
	jw.byte('}')
	jw.byte('\n')
	if jw.err != nil {
		return jw.err
	}
	return jw.w.Flush()
}

type member struct {
	name  string
	value any
	omit  bool
}

// members returns the top-level members of the JSON in order.
func (r *Run) members() []member {
	servers := r.Servers
	if servers == nil {
		servers = []Server{}
	}
	return []member{
		{"schema", r.Schema, false},
		{"tool", r.Tool, false},
		{"suites", r.Suites, len(r.Suites) == 0},
		{"started", r.Started, false},
		{"duration_ms", finite(r.DurationMS), false},
		{"exit_code", r.ExitCode, false},
		{"interrupted", r.Interrupted, r.Interrupted == ""},
		{"parallel", r.Parallel, r.Parallel == 0},
		{"command", r.Command, r.Command == ""},
		{"dir", r.Dir, r.Dir == ""},
		{"shard", r.Shard, r.Shard == nil},
		{"summary", r.Summary, false},
		{"tests", nil, false},
		{"phases", r.Phases, len(r.Phases) == 0},
		{"metric_rollups", r.Rollups, len(r.Rollups) == 0},
		{"findings", r.Findings, len(r.Findings) == 0},
		{"servers", servers, false},
		{"coverage", r.Coverage, r.Coverage == nil},
		{"notes", r.Notes, len(r.Notes) == 0},
	}
}

// jsonWriter writes the members of one object and keeps the first error.
type jsonWriter struct {
	w       *bufio.Writer
	indent  bool
	started bool
	scratch bytes.Buffer
	err     error
}

func (jw *jsonWriter) bytes(b []byte) {
	if jw.err == nil {
		_, jw.err = jw.w.Write(b)
	}
}

func (jw *jsonWriter) byte(c byte) {
	if jw.err == nil {
		jw.err = jw.w.WriteByte(c)
	}
}

// line starts a new line at a depth, when the text is indented.
func (jw *jsonWriter) line(prefix string) {
	if jw.indent {
		jw.byte('\n')
		jw.bytes([]byte(prefix))
	}
}

func (jw *jsonWriter) name(name string) {
	if jw.started {
		jw.byte(',')
	}
	jw.started = true
	jw.line("  ")
	jw.bytes([]byte(`"` + name + `":`))
	if jw.indent {
		jw.byte(' ')
	}
}

func (jw *jsonWriter) value(text []byte, prefix string) {
	if !jw.indent {
		jw.bytes(text)
		return
	}
	jw.scratch.Reset()
	if err := json.Indent(&jw.scratch, text, prefix, "  "); err != nil && jw.err == nil {
		jw.err = err
	}
	jw.bytes(jw.scratch.Bytes())
}

func (jw *jsonWriter) cases(cases Cases) {
	jw.byte('[')
	first := true
	for _, raw := range encoded(cases) {
		if raw.err != nil && jw.err == nil {
			jw.err = raw.err
		}
		if jw.err != nil {
			return
		}
		if !first {
			jw.byte(',')
		}
		first = false
		jw.line("    ")
		jw.value(raw.text, "    ")
	}
	if !first {
		jw.line("  ")
	}
	jw.byte(']')
}

// encoded returns an iterator over the JSON of the cases. A Spool stores it already.
func encoded(cases Cases) iter.Seq2[int, rawCase] {
	if s, ok := cases.(*Spool); ok {
		return s.raw(nil)
	}
	return func(yield func(int, rawCase) bool) {
		if cases == nil {
			return
		}
		for c, err := range cases.All() {
			if err != nil {
				yield(0, rawCase{err: err})
				return
			}
			text, err := marshal(listed(c))
			if !yield(c.Index, rawCase{text, err}) || err != nil {
				return
			}
		}
	}
}
