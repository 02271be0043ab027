package render

import (
	"bufio"
	"cmp"
	"encoding/json"
	"io"
	"strings"
)

// Out writes text. It keeps the first error for Flush.
type Out struct {
	w   *bufio.Writer
	err error // of the data
}

// NewOut returns an Out that writes to w.
func NewOut(w io.Writer) Out { return Out{w: bufio.NewWriter(w)} }

// Put writes texts.
func (o *Out) Put(parts ...string) {
	for _, s := range parts {
		_, _ = o.w.WriteString(s) // Flush returns the error
	}
}

// Fail makes Flush return an error.
func (o *Out) Fail(err error) { o.err = cmp.Or(o.err, err) }

// Flush writes buffered data and returns the first error.
func (o *Out) Flush() error { return cmp.Or(o.err, o.w.Flush()) }

// JSONWriter writes a JSON document in parts, so that the report of a long run is
// never in memory as a whole.
type JSONWriter struct {
	Out
	items int // of the current array
}

// NewJSON returns a JSONWriter that writes to w.
func NewJSON(w io.Writer) JSONWriter { return JSONWriter{Out: NewOut(w)} }

// Value writes a value on one line. The text in it must be escaped already.
func (w *JSONWriter) Value(v any) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	w.Fail(enc.Encode(v))
	w.Put(strings.TrimSuffix(b.String(), "\n"))
}

// Item writes the next element of the array.
func (w *JSONWriter) Item(v any) {
	comma := ",\n  "
	if w.items++; w.items == 1 {
		comma = "\n  "
	}
	w.Put(comma)
	w.Value(v)
}
