package result

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"unicode/utf8"
)

// WriteJSON writes the record in its JSON form, the members in the order of
// Run and "tests" after the summary. The cases are written one by one as they
// are read. With indent the text is meant for people: two blanks a level.
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

// members lists the top level of the JSON form in order.
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
		{"notes", r.Notes, len(r.Notes) == 0},
	}
}

// jsonWriter writes the members of one object. It remembers the first error.
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
	jw.bytes(key(nil, name))
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

// encoded yields the JSON form of the cases. A Spool has it already.
func encoded(cases Cases) iter.Seq2[int, rawCase] {
	if s, ok := cases.(*Spool); ok {
		return s.raw(nil)
	}
	return func(yield func(int, rawCase) bool) {
		if cases == nil {
			return
		}
		var buf []byte
		for c, err := range cases.All() {
			if err != nil {
				yield(0, rawCase{err: err})
				return
			}
			buf = appendCase(buf[:0], c)
			if !yield(c.Index, rawCase{text: buf}) {
				return
			}
		}
	}
}

// marshal is encoding/json for everything but the cases, with the same care
// for characters that are not seen as appendString takes.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return harden(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}

// harden writes the characters of a JSON text that can only be inside its
// strings, and that are better not seen by a terminal, as escapes.
func harden(text []byte) []byte {
	var out []byte
	start := 0
	for i := 0; i < len(text); {
		c := text[i]
		if c < 0x7f && (c != '#' || i == 0 || text[i-1] != '#') {
			i++
			continue
		}
		r, n := rune(c), 1
		if c >= utf8.RuneSelf {
			r, n = utf8.DecodeRune(text[i:])
		}
		if r == '#' || unseen(r) {
			out = append(out, text[start:i]...)
			out = appendRune(out, r)
			start = i + n
		}
		i += n
	}
	if start == 0 {
		return text
	}
	return append(out, text[start:]...)
}
