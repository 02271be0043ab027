package plan

import (
	"mcptest/internal/jsonv"
	"mcptest/internal/source"
)

// ReadCSV returns the rows of a CSV text.
func ReadCSV(text string) ([]jsonv.Value, source.Diagnostics) {
	r := &rowReader{into: &rows{}, dec: new(source.Decoder)}
	r.csvRows(&source.File{Name: "rows.csv", Data: []byte(text)})
	var out []jsonv.Value
	for i := range r.into.len() {
		out = append(out, r.into.at(i))
	}
	return out, r.dec.Diagnostics()
}
