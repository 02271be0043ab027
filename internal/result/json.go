package result

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
)

// WriteJSON writes the record as JSON. The tests are written one by one as they are
// read. With indent, the text is indented by two spaces per level.
func WriteJSON(w io.Writer, r *Run, indent bool) error {
	run := *r
	run.Cases, run.DurationMS, run.Servers = nil, finite(r.DurationMS), append([]Server{}, r.Servers...)
	text, err := marshal(run)
	if err != nil {
		return fmt.Errorf("write the record: %w", err)
	}
	var b bytes.Buffer
	key := `"tests":`
	if indent {
		key += " "
		if err := json.Indent(&b, text, "", "  "); err != nil {
			return err
		}
		text = bytes.Clone(b.Bytes())
		b.Reset()
	}
	head, tail, _ := bytes.Cut(text, []byte(key+"null"))
	b.Write(head)
	b.WriteString(key + "[")
	separator := ""
	for _, raw := range encoded(r.Cases) {
		b.WriteString(separator)
		separator = ","
		if indent && raw.err == nil {
			b.WriteString("\n    ")
			raw.err = json.Indent(&b, raw.text, "    ", "  ")
		} else {
			b.Write(raw.text)
		}
		if b.Len() >= 64<<10 && raw.err == nil {
			_, raw.err = b.WriteTo(w)
		}
		if raw.err != nil {
			return raw.err
		}
	}
	if indent && separator != "" {
		b.WriteString("\n  ")
	}
	b.WriteString("]")
	b.Write(tail)
	b.WriteString("\n")
	_, err = b.WriteTo(w)
	return err
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
