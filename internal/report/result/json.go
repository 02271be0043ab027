package result

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"unicode/utf8"

	"mcptest/internal/base/display"
)

// WriteJSON writes the record as JSON. The tests are written one by one as they are
// read. The text is indented by two spaces per level.
func WriteJSON(w io.Writer, r *Run) error {
	run := *r
	run.Cases, run.DurationMS, run.Servers = nil, makeFinite(r.DurationMS), append([]Server{}, r.Servers...)
	text, err := marshal(run)
	if err != nil {
		return fmt.Errorf("write the record: %w", err)
	}
	var whole, b bytes.Buffer
	if err := json.Indent(&whole, text, "", "  "); err != nil {
		return err
	}
	const key = `"tests": `
	head, tail, _ := bytes.Cut(whole.Bytes(), []byte(key+"null"))
	b.Write(head)
	b.WriteString(key + "[")
	separator := ""
	for _, raw := range r.Cases.walkRaw(nil) {
		b.WriteString(separator + "\n    ")
		separator = ","
		if raw.err == nil {
			raw.err = json.Indent(&b, raw.text, "    ", "  ")
		}
		if b.Len() >= 64<<10 && raw.err == nil {
			_, raw.err = b.WriteTo(w)
		}
		if raw.err != nil {
			return raw.err
		}
	}
	if separator != "" {
		b.WriteString("\n  ")
	}
	b.WriteString("]")
	b.Write(tail)
	b.WriteString("\n")
	_, err = b.WriteTo(w)
	return err
}

// marshal returns the JSON of v without a line feed. It escapes characters that are
// valid in JSON but interpreted by a terminal or a CI log: DEL, C1, bidirectional
// controls and other invisible characters, and the second # of "##". Bytes that are
// not UTF-8 become U+FFFD; a Recorder has made them visible before.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return escapeUnseen(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}

// fillLists returns c with a non-nil list of assertions, so that "assertions" is a list
// in every record.
func fillLists(c *Case) *Case {
	if c.Assertions != nil {
		return c
	}
	out := *c
	out.Assertions = []Assertion{}
	return &out
}

// unmarshalCase decodes a case and validates its statuses, because all reports depend
// on them.
func unmarshalCase(text []byte, c *Case) error {
	if err := json.Unmarshal(text, c); err != nil {
		return explainReadError("", err)
	}
	return c.checkStatuses()
}

func (c *Case) checkStatuses() error {
	err := c.Status.check()
	for i := 0; i < len(c.Attempts) && err == nil; i++ {
		err = c.Attempts[i].Status.check()
	}
	for i := 0; i < len(c.Phases) && err == nil; i++ {
		err = c.Phases[i].Status.check()
	}
	return err
}

func (s Status) check() error {
	switch s {
	case Pass, Fail, Error, Skip, Inconclusive:
		return nil
	case "":
		return fmt.Errorf("no %q", "status")
	}
	return fmt.Errorf("status %q: must be pass, fail, error, skip or inconclusive", string(s))
}

// escapeUnseen escapes invisible and control characters in JSON text, in which they
// can only occur inside strings.
func escapeUnseen(text []byte) []byte {
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
		if r == '#' || r == utf8.RuneError || display.IsHidden(r) {
			out = append(out, text[start:i]...)
			out = display.AppendJSONEscape(out, r)
			start = i + n
		}
		i += n
	}
	if start == 0 {
		return text
	}
	return append(out, text[start:]...)
}

// makeFinite returns the nearest number that JSON can represent; NaN becomes 0.
func makeFinite(f float64) float64 {
	switch {
	case f != f:
		return 0
	case math.IsInf(f, 0):
		return math.Copysign(math.MaxFloat64, f)
	}
	return f
}
