package cassette_test

import (
	"strings"
	"testing"

	"mcptest/internal/base/testkit"
	"mcptest/internal/tape/cassette"
)

// A recording has what a client ignores: ids and pauses without data, and the beginning of
// an event that did not end.
func TestEventsWithoutData(t *testing.T) {
	t.Parallel()
	events := cassette.NewEvents()
	type seen struct {
		Event cassette.Event
		Data  string
		Has   bool
	}
	var got []seen
	for _, part := range []string{"id: 1\nretry: 50\n\n: c\n\nid: 2\nda", "ta\n\nevent: x\r\ndata: a\rdata:b\n\n", "data: " + strings.Repeat("x", 5000)} {
		events.Feed([]byte(part), func(f cassette.Frame) { got = append(got, seen{*f.Event, string(f.Data), f.Has()}) })
	}
	want := []seen{{Event: cassette.Event{ID: "1", Retry: 50}}, {cassette.Event{ID: "2"}, "", true}, {cassette.Event{Type: "x"}, "a\nb", true}}
	testkit.Equal(t, "the events", got, want)
	f, ok := events.Begun()
	testkit.Equal(t, "whether an event has begun", ok, true)
	testkit.Equal(t, "its data", string(f.Data), strings.Repeat("x", cassette.OmittedHead))
	testkit.Equal(t, "its size", f.Omitted, 5006)
	testkit.Equal(t, "whether its end is missing", f.Unterminated, true)
}
