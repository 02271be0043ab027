package report

import (
	"encoding/json"
	"strings"
)

// jsonWriter writes a JSON document piece by piece: the report of a long run
// is never in memory as a whole.
type jsonWriter struct {
	out
	items int // of the array that is being written
}

// value writes a value on one line. The text in it must be escaped already.
func (w *jsonWriter) value(v any) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil && w.err == nil {
		w.err = err
	}
	w.put(strings.TrimSuffix(b.String(), "\n"))
}

// item writes the next element of the array.
func (w *jsonWriter) item(v any) {
	comma := ",\n  "
	if w.items++; w.items == 1 {
		comma = "\n  "
	}
	w.put(comma)
	w.value(v)
}
