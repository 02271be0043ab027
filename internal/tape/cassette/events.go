package cassette

import (
	"bytes"

	"mcptest/internal/client/protocol"
)

// Events splits text/event-stream into frames. Unlike a client it also passes on
// events without data, because their ids and pauses matter.
type Events struct{ parser protocol.EventParser }

// NewEvents returns the parser for a stream.
func NewEvents() *Events { return &Events{protocol.EventParser{Limit: MaxMessage, All: true}} }

// Begun returns the recorded part of a large event that is incomplete; false if there
// is none.
func (s *Events) Begun() (Frame, bool) {
	size, head, inLine := s.parser.Begun()
	return Frame{Dir: FromServer, Data: head, Omitted: size, Unterminated: inLine}, size > OmittedHead
}

// Feed processes the next bytes and calls emit for each complete event. Its frame has
// no data if the event has none.
func (s *Events) Feed(b []byte, emit func(Frame)) {
	s.parser.Feed(b, func(e protocol.Event) {
		emit(Frame{
			Dir:     FromServer,
			Event:   &Event{ID: e.ID, Type: e.Type, Retry: e.Retry},
			Data:    bytes.Clone(e.Data),
			Omitted: e.Over,
		})
	})
}
