package tee

import (
	"testing"
	"testing/synctest"
	"time"

	"mcptest/internal/tape/cassette"
)

// writerFunc is a client that reads.
type writerFunc func()

func (f writerFunc) Write(b []byte) (int, error) {
	f()
	return len(b), nil
}

func TestPendingIsNotQuietWhileTheClientReads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPending()
		at := func(what string, want bool) {
			t.Helper()
			if got := p.isQuiet(time.Second); got != want {
				t.Errorf("%s: quiet is %v", what, got)
			}
		}
		elapse(time.Hour)
		at("before the end of the input", false)
		p.noteInputEnd()
		at("immediately after it", false)
		elapse(time.Second)
		at("later", true)
		_, _ = noted{writerFunc(func() { elapse(time.Hour); at("while the client reads", false) }), p}.Write(nil)
		at("immediately after that", false)
		elapse(time.Second)
		at("later", true)
		p.count(cassette.Frame{Dir: cassette.ToServer, Data: []byte(`{"id":"a","method":"x"}`)})
		at("with a request", false)
		p.count(cassette.Frame{Dir: cassette.FromServer, Data: []byte(`{"id":"a","method":"x"}`)})
		at("with a request of the server that has the same id", false)
		if p.isSilent(2 * time.Second) {
			t.Error("silent too early")
		}
		if elapse(time.Second); !p.isSilent(2 * time.Second) {
			t.Error("a request without a response is waited for without a limit")
		}
		if p.noteActivity(); p.isSilent(time.Second) {
			t.Error("silent when the input ended")
		}
		p.count(cassette.Frame{Dir: cassette.FromServer, Data: []byte(`{"id":"a","error":{}}`)})
		elapse(time.Second)
		at("with a response", true)
	})
}

// elapse lets time pass on the clock of a synctest bubble.
func elapse(d time.Duration) { time.Sleep(d) }
