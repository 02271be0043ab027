package rows

import (
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

// ReadCSV returns the rows of a CSV text.
func ReadCSV(text string) ([]jsonv.Value, source.Diagnostics) {
	r := &reader{into: &Rows{}, Options: Options{Dec: new(source.Decoder)}}
	r.readCSV(&source.File{Name: "rows.csv", Data: []byte(text)})
	var out []jsonv.Value
	for i := range r.into.Len() {
		out = append(out, r.into.At(i))
	}
	return out, r.Dec.Diagnostics()
}
