package protocol

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// sseAll reads a stream in pieces of n bytes.
func sseAll(p *EventParser, text []byte, n int) []Event {
	var out []Event
	buf := make([]byte, n)
	for len(text) > 0 {
		k := copy(buf, text)
		text = text[k:]
		p.Feed(buf[:k], func(ev Event) {
			ev.Data = bytes.Clone(ev.Data)
			out = append(out, ev)
		})
		for i := range buf { // what was borrowed must not be used any more
			buf[i] = '!'
		}
	}
	return out
}

func TestSSEGrammar(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string // type:data
		id         string
		retry      time.Duration
	}{
		{name: "one", text: "data: a\n\n", want: []string{":a"}},
		{name: "all line ends", text: "data: a\r\ndata: b\rdata: c\n\r\n", want: []string{":a\nb\nc"}},
		{name: "CR alone", text: "data:a\r\rdata:b\r\r", want: []string{":a", ":b"}},
		{name: "byte order mark, once", text: "\xef\xbb\xbfdata: a\n\n\xef\xbb\xbfdata: b\n\n", want: []string{":a"}},
		{name: "comments and unknown fields", text: ": c\nfoo: bar\nfoo\ndata: a\n\n", want: []string{":a"}},
		{name: "one space only", text: "data:  a\n\n", want: []string{": a"}},
		{name: "empty data is no event, but an id", text: "id: 7\ndata\n\n", id: "7"},
		{name: "two empty lines of data", text: "data\ndata\n\n", want: []string{":\n"}},
		{name: "type", text: "event: x\ndata: a\n\ndata: b\n\n", want: []string{"x:a", ":b"}},
		{name: "id stays", text: "id: 1\ndata: a\n\ndata: b\n\n", want: []string{":a", ":b"}, id: "1"},
		{name: "id is taken back", text: "id: 1\ndata: a\n\nid\ndata: b\n\n", want: []string{":a", ":b"}},
		{name: "id with NUL", text: "id: 1\n\nid: a\x00b\n\n", id: "1"},
		{name: "id of an event that never ends", text: "id: 1\n\nid: 2\ndata: x\n", id: "1"},
		{name: "retry", text: "retry: 500\nretry: 5s\nretry: -1\nretry:\n\n", retry: 500 * time.Millisecond},
		{name: "not ended", text: "data: a\n"},
		{name: "over the limit", text: "data: " + strings.Repeat("x", 100) + "\n\ndata: b\n\n", want: []string{"over", ":b"}},
		{name: "over the limit in many lines", text: strings.Repeat("data: xxxxxxxx\n", 20) + "\ndata: b\n\n", want: []string{"over", ":b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, n := range []int{1, 2, 3, 7, 1 << 10} {
				p := &EventParser{Limit: 64}
				var got []string
				for _, ev := range sseAll(p, []byte(c.text), n) {
					if ev.Over > 64 {
						got = append(got, "over")
						continue
					}
					got = append(got, ev.Type+":"+string(ev.Data))
				}
				if d := cmp.Diff(c.want, got); d != "" || p.LastID != c.id || p.Retry != c.retry {
					t.Errorf("in pieces of %d: %s id %q retry %s", n, d, p.LastID, p.Retry)
				}
			}
		})
	}
}

// However a stream is divided, the events are the same, and memory is bounded.
func FuzzSSE(f *testing.F) {
	for _, s := range []string{"data: a\n\n", "\xef\xbb\xbfid: 1\r\ndata: a\rdata\n\n", ": x\nretry: 1\n\nevent: e\ndata:" + strings.Repeat("x", 80) + "\n\n"} {
		f.Add([]byte(s), 3)
	}
	// An id after a byte order mark that is longer than the buffer, and a type with bytes that
	// are not UTF-8.
	f.Add([]byte("\ufeffid:"+strings.Repeat("e", 2071)+"\r\r"), 3)
	f.Add([]byte("\nevent:xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxzxxx\x7f\xffxxxxxx\nretry: xxxxxx e\ndata:xxx\n\n"), 20)
	f.Fuzz(func(t *testing.T, text []byte, n int) {
		n = 1 + int(uint(n)%64)
		whole, cut := &EventParser{Limit: 64}, &EventParser{Limit: 64}
		want, got := sseAll(whole, text, len(text)+1), sseAll(cut, text, n)
		if d := cmp.Diff(want, got); d != "" || whole.LastID != cut.LastID || whole.Retry != cut.Retry {
			t.Errorf("in pieces of %d: %s", n, d)
		}
		for _, ev := range got {
			if len(ev.Data) > 64 {
				t.Errorf("%d bytes were kept", len(ev.Data))
			}
		}
		if cap(cut.line) > 1<<10 || cap(cut.data) > 1<<10 {
			t.Errorf("%d and %d bytes are held", cap(cut.line), cap(cut.data))
		}
	})
}
