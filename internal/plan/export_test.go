package plan

import (
	"mcptest/internal/jsonv"
	"mcptest/internal/source"
	"mcptest/internal/suite"
)

// ReadCSV returns the rows of a CSV text.
func ReadCSV(text string) ([]jsonv.Value, source.Diagnostics) {
	c := &compiler{dec: new(source.Decoder), suite: &suite.Suite{}}
	r := &rows{}
	c.csvRows(r, &source.File{Name: "rows.csv", Data: []byte(text)})
	var out []jsonv.Value
	for i := range r.len() {
		out = append(out, r.at(i))
	}
	return out, c.dec.Diagnostics()
}
