package mcp_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mcptest/internal/base/testkit"
	"mcptest/internal/client/conn"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
)

// watched collects events as texts.
type watched struct {
	mu     sync.Mutex
	frames []string
	others []string
}

func (w *watched) watch() func(conn.Event) {
	return func(e conn.Event) {
		w.mu.Lock()
		defer w.mu.Unlock()
		text := ""
		for _, v := range e.Violations {
			text += " !" + v.Kind
		}
		switch {
		case e.Frame != nil:
			w.frames = append(w.frames, e.Frame.Dir.String()+" "+e.Frame.Method+" "+e.Frame.ID+text)
		case e.End != nil:
			w.others = append(w.others, "end"+text)
		default:
			w.others = append(w.others, "call "+e.ID+text)
		}
	}
}

func (w *watched) all() (frames, others []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.frames), slices.Clone(w.others)
}

// What passes a connection reaches its watcher in order, with the violations of each frame,
// before the call returns.
func TestWatchGetsFramesWithTheirViolations(t *testing.T) {
	t.Parallel()
	var w watched
	s := scripted(t, mcp.Options{Protocol: "2025-11-25", Watch: w.watch}, func(p *peer) {
		id := idOf([]byte(p.read()))
		p.write(
			"hello from a log",
			`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}`,
			`{"jsonrpc":"2.0","id":77,"method":"ping"}`,
			`{"jsonrpc":"2.0","id":999,"result":{}}`,
			`{"jsonrpc":"2.0","id":`+id+`,"result":{}}`,
		)
		p.read()
	})
	x := s.Do(within(t, time.Minute), mcp.Call{Method: "tools/list"})
	testkit.Wait(t, "the answer to the ping", func() bool {
		frames, _ := w.all()
		return slices.Contains(frames, "to-server  77")
	})
	s.Close(context.Background())
	frames, others := w.all()
	at := slices.Index(frames, "to-server  77")
	frames = slices.Delete(frames, at, at+1) // another goroutine sends it
	testkit.Equal(t, "frames", strings.Join(frames, "\n"), strings.Join([]string{
		"to-server initialize " + s.Handshake().ID, "from-server  " + s.Handshake().ID, "to-server notifications/initialized ",
		"to-server tools/list " + x.ID, "from-server   !stray-output", "from-server notifications/message ",
		"from-server ping 77", "from-server  999 !unknown-id", "from-server  " + x.ID,
	}, "\n"))
	if !slices.Contains(others, "end") {
		t.Errorf("the end was not reported: %q", others)
	}
}

// A violation that is found in a result after the call is an event of its own.
func TestWatchGetsLateViolations(t *testing.T) {
	t.Parallel()
	var w watched
	s := scripted(t, mcp.Options{Protocol: "2025-11-25", Watch: w.watch}, func(p *peer) {
		p.write(`{"jsonrpc":"2.0","id":` + idOf([]byte(p.read())) + `,"result":{}}`)
	})
	x := s.Do(within(t, time.Minute), mcp.Call{Method: "tools/list"})
	x.Violations = append(x.Violations, protocol.Violation{Kind: protocol.BadResult, ID: x.ID})
	s.Report(x.Violations)
	if _, others := w.all(); !slices.Contains(others, "call "+x.ID+" !bad-result") {
		t.Errorf("got %q", others)
	}
}
