package cassette

import (
	"errors"
	"io"
	"math"
	"strings"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
)

// Playback plays a recorded call to a live client: it yields the frames of the server,
// and waits for the messages of the client between them.
type Playback struct {
	*Call
	Live   Live
	Awaits string // the key of the message that Next waited for last; see [Awaited]
	Stderr string // what the process wrote from the last frame to the next message of the client

	player *Player
	next   int
}

// ErrWaits is returned by Next if the client has not sent a message yet.
var ErrWaits = errors.New("the client has not sent its message yet")

// Play plays a call to the client that sent the message raw.
func (p *Player) Play(call *Call, raw []byte) *Playback {
	b := &Playback{Call: call, Live: ReadLive(raw), player: p}
	b.hear()
	return b
}

// hear collects standard error up to the next message of the client: callers examine it
// when a response arrives.
func (b *Playback) hear() {
	for _, f := range b.Frames[b.next:] {
		if f.Dir == ToServer {
			return
		}
		b.Stderr += f.Stderr
	}
}

// Next returns the next frame of the server, with its data as the live client gets it.
// reach is called for a message of the recorded client, with its key: an error, such as
// [ErrWaits], ends Next, and the next call begins with this message again. The error at
// the end is io.EOF, or says that the recorded request had no response.
func (b *Playback) Next(reach func(key string, recorded *Frame) error) (*Frame, []byte, error) {
	for b.next < len(b.Frames) {
		f := b.Frames[b.next]
		data, err := b.player.c.Read(f)
		if err == nil && f.Dir == ToServer {
			b.Awaits = makeAwaitedKey(data, b.Live.ID)
			err = reach(b.Awaits, f)
		}
		if err != nil {
			return nil, nil, err
		}
		b.next++
		if f.Dir != ToServer {
			if b.player.Damage && f == b.Response && !IsOverhead(b.Method) {
				data = damage(f.Line).damageResponse(data)
			}
			return f, b.Rewrite(data, b.Live), nil
		}
		b.hear()
	}
	if err := b.player.Unanswered(b.Call); err != nil {
		return nil, nil, err
	}
	return nil, nil, io.EOF
}

// Pause returns the recorded time between a frame, which Next returned last, and the next
// one.
func (b *Playback) Pause(f *Frame) time.Duration {
	if b.next == len(b.Frames) {
		return math.MaxInt64
	}
	return b.Frames[b.next].At - f.At
}

// Awaited returns a key that is equal for a message of the client and the recorded one
// that it is compared with: an answer to the same request of the server, or the
// cancellation of the same call. It returns "" for other messages.
func Awaited(raw []byte) string { return makeAwaitedKey(raw, "") }

// makeAwaitedKey returns the key. For a recorded cancellation, id is the live id.
func makeAwaitedKey(raw []byte, id string) string {
	switch {
	case IsAnswer(raw):
		return "answer " + string(protocol.MemberOf(raw, "id"))
	case protocol.TextOf(protocol.MemberOf(raw, "method")) != "notifications/cancelled":
		return ""
	case id == "":
		id = string(protocol.MemberOf(protocol.MemberOf(raw, "params"), "requestId"))
	}
	return cancels + id
}

const cancels = "cancelled "

// Cancels reports whether a key is that of a cancellation.
func Cancels(key string) bool { return strings.HasPrefix(key, cancels) }

// IsAnswer reports whether a message of the client answers a request of the server.
func IsAnswer(raw []byte) bool {
	if len(raw) == 0 || raw[0] != '{' || jsonv.Valid(raw) != nil {
		return false
	}
	return protocol.MemberOf(raw, "method") == nil && protocol.MemberOf(raw, "id") != nil
}
