package transport

import (
	"bytes"
	"strconv"

	"mcptest/internal/tape/cassette"
)

// appendEvent appends an event in the form in which a server sends it.
func appendEvent(dst []byte, e *cassette.Event, data []byte, has bool) []byte {
	if e != nil {
		if e.ID != "" {
			dst = append(append(append(dst, "id: "...), e.ID...), '\n')
		}
		if e.Type != "" {
			dst = append(append(append(dst, "event: "...), e.Type...), '\n')
		}
		if e.Retry > 0 {
			dst = append(strconv.AppendInt(append(dst, "retry: "...), int64(e.Retry), 10), '\n')
		}
	}
	if has {
		for line := range bytes.SplitSeq(data, []byte{'\n'}) {
			dst = append(append(append(dst, "data: "...), line...), '\n')
		}
	}
	return append(dst, '\n')
}
