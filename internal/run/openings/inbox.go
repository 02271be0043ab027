package openings

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"time"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
	"mcptest/internal/offer/opening"
)

// strayLimit is how long a frame waits after a response that the client doesn't take.
const strayLimit = 2 * time.Second

// inbox holds what came from a server until the script takes it.
type inbox struct {
	script  *opening.Script
	respond func(raw []byte) // to a request of the server

	mu      sync.Mutex
	takes   func(jsonv.Value) bool // of the frame that waits; nil if none does
	message jsonv.Value
	stray   jsonv.Value
	garbage string
	asked   []string
	ended   string
	changed chan struct{} // closed and replaced with each change
}

func newInbox(s *opening.Script, respond func([]byte)) *inbox {
	return &inbox{script: s, respond: respond, changed: make(chan struct{})}
}

// expect prepares for the response to a frame, before that is sent.
func (in *inbox) expect(f opening.Frame) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.takes, in.message, in.stray, in.garbage = f.Takes, jsonv.Value{}, jsonv.Value{}, ""
}

// signal wakes who waits. The caller holds the lock.
func (in *inbox) signal() {
	close(in.changed)
	in.changed = make(chan struct{})
}

// put takes one message, or bytes that are none.
func (in *inbox) put(raw []byte) {
	raw = protocol.Clean(raw).Raw
	if len(bytes.TrimSpace(raw)) == 0 {
		return
	}
	v, err := jsonv.Parse(raw)
	if err != nil {
		in.mu.Lock()
		defer in.mu.Unlock()
		if in.garbage == "" {
			in.garbage = display.Truncate(string(raw), 200)
			in.signal()
		}
		return
	}
	if v.Kind() == jsonv.KindArray {
		for _, each := range v.Elems() {
			in.putMessage(each)
		}
		return
	}
	in.putMessage(v)
}

func (in *inbox) putMessage(v jsonv.Value) {
	method := v.Lookup("method").Text()
	if v.Lookup("jsonrpc").Text() != "2.0" {
		in.mu.Lock()
		if in.garbage == "" {
			in.garbage = v.Short(200)
		}
		in.mu.Unlock()
	}
	switch {
	case method != "" && !v.Lookup("id").IsAbsent():
		in.putRequest(method, v)
		return
	case method != "":
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	switch {
	case in.takes == nil || !in.message.IsAbsent():
	case in.takes(v):
		in.message = v
		in.signal()
	case in.stray.IsAbsent() && !v.Lookup("id").IsAbsent() || v.Lookup("error").Kind() == jsonv.KindObject:
		in.stray = v
		in.signal()
	}
}

// putRequest answers a request of the server.
func (in *inbox) putRequest(method string, v jsonv.Value) {
	raw := in.script.Respond(v)
	if !bytes.Contains(raw, []byte(`"result"`)) {
		in.mu.Lock()
		if !slices.Contains(in.asked, method) && len(in.asked) < 5 {
			in.asked = append(in.asked, method)
		}
		in.mu.Unlock()
	}
	in.respond(raw)
}

// end says that nothing more comes.
func (in *inbox) end(why string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.ended == "" {
		in.ended = why
		in.signal()
	}
}

// await waits for the response to a frame, for the end, or for the limit.
func (in *inbox) await(ctx context.Context, f opening.Frame, limit time.Duration) opening.Answer {
	began := time.Now()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	shortened := false
	for {
		in.mu.Lock()
		a := opening.Answer{
			Message: in.message, Stray: in.stray, Garbage: in.garbage,
			Asked: slices.Clone(in.asked), Elapsed: time.Since(began),
		}
		ended, changed := in.ended, in.changed
		in.mu.Unlock()
		switch {
		case f.Strict && a.Garbage != "":
			a.Message = jsonv.Value{}
			return a
		case !a.Message.IsAbsent():
			return a
		case ended != "":
			a.Ended = ended
			return a
		case !a.Stray.IsAbsent() && !shortened:
			shortened = true
			timer.Reset(min(strayLimit, limit))
		}
		select {
		case <-changed:
		case <-timer.C:
			a.Silent = limit
			return a
		case <-ctx.Done():
			a.Silent = limit
			return a
		}
	}
}
