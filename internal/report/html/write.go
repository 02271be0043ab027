package html

import (
	"bufio"
	"io"
)

// Write writes the page, which needs no network and no other file.
func (s Sheet) Write(w io.Writer) error {
	bw := bufio.NewWriter(w)
	writesheet(bw, s)
	return bw.Flush()
}

// Write writes the page, which needs no network and no other file.
func (t Traffic) Write(w io.Writer) error {
	bw := bufio.NewWriter(w)
	writetraffic(bw, t)
	return bw.Flush()
}
