package mcp

import (
	"context"
	"time"

	"mcptest/internal/client/protocol"
)

// announceTime is how long an announcement may come after what caused it.
const announceTime = 200 * time.Millisecond

// SelfAnnouncing returns the methods of lists, such as tools/list, whose request makes the
// server announce each time that the list has changed: a client that reads a list again
// when it has changed never stops. Only lists are examined of which a change was
// announced already; stateless versions notify subscribers only.
func (s *Session) SelfAnnouncing(ctx context.Context) (methods []string) {
	if s.Era() == protocol.EraStateless {
		return nil
	}
	for _, list := range []string{"tools", "resources", "prompts"} {
		method := list + "/list"
		asks := func() { s.ask(ctx, method) }
		pings := func() { s.ask(ctx, "ping") }
		if !s.hasAnnouncedBefore(ctx, list) {
			continue
		}
		if !s.announces(ctx, list, asks) {
			continue
		}
		// Again, so that a message that came by chance does not count.
		if s.announces(ctx, list, asks) && !s.announces(ctx, list, pings) {
			methods = append(methods, method)
		}
	}
	return methods
}

// loopTime limits a request: not every server answers a ping.
const loopTime = 2 * time.Second

func (s *Session) ask(ctx context.Context, method string) {
	limited, cancel := context.WithTimeout(ctx, loopTime)
	defer cancel()
	s.Do(limited, Call{Method: method})
}

// announces reports whether a change of a list is announced after a request. Then it waits
// until what the server announced has arrived.
func (s *Session) announces(ctx context.Context, list string, request func()) bool {
	mark := s.Mark()
	request()
	announced := s.awaitChange(ctx, list, mark, announceTime)
	if announced {
		s.ask(ctx, "ping")
	}
	return announced
}

// hasAnnouncedBefore reports whether a change of a list was announced. The last request may
// have been the one that causes it.
func (s *Session) hasAnnouncedBefore(ctx context.Context, list string) bool {
	patience := time.Duration(0)
	if s.ServerInfo().Lookup("capabilities", list, "listChanged").Bool() {
		patience = announceTime / 4
	}
	return s.awaitChange(ctx, list, 0, patience)
}

// awaitChange waits for a notification that a list has changed.
func (s *Session) awaitChange(ctx context.Context, list string, since Mark, patience time.Duration) bool {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, err := s.Wait(limited, "notifications/"+list+"/list_changed", since)
	return err == nil
}
