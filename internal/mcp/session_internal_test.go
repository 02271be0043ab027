package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"mcptest/internal/proc"
)

// inert is a transport that sends nowhere; frames are put into the session.
type inert struct{ early []string }

func (t *inert) Start(sink Sink) error {
	for _, l := range t.early {
		sink.Frame(Frame{Dir: FromServer, Raw: []byte(l), At: time.Now()})
	}
	sink.Flush()
	return nil
}
func (*inert) Send(context.Context, Outgoing) error { return nil }
func (*inert) Close(context.Context) proc.Stopped   { return proc.Stopped{} }
func (*inert) Facts() Facts                         { return Facts{Kind: "inert"} }

func TestEarlyAnswer(t *testing.T) {
	for _, line := range []string{`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":"x","result":{}}`, `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}`} {
		_, err := Open(t.Context(), &inert{early: []string{line}}, Options{ConnectTimeout: 10 * time.Millisecond})
		open, ok := err.(*OpenError)
		if !ok || len(open.Violations) != 1 || open.Violations[0].Kind != EarlyAnswer {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// ourIDs has the digits 1 and 2 stand for the ids of the first two requests.
func ourIDs(in []byte) []byte {
	for n, key := range []string{`1`, `2`} {
		for _, before := range []string{`"id":`, `"id":"`, `"id":[`, `Token":"`} {
			in = bytes.ReplaceAll(in, []byte(before+key), []byte(before+ID(int64(n+1))))
		}
	}
	return in
}

// waiting puts a call in flight without sending it.
func waiting(s *Session, method string) *call {
	k, err := s.begin(&Call{Method: method, ProgressToken: true}, &Exchange{Method: method})
	if err != nil {
		panic(err)
	}
	return k
}

// Whatever a server sends: no panic, each call is signalled at most once, all
// calls end with the session, and what is kept is a copy.
func FuzzSession(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{}}`, "{\n\"id\":1\n}\n", `[{"id":1},{"id":2,"result":[]}]`, "\xef\xbb\xbf\x00{}", `{"id":"1","error":null}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"1"}}`, `{"jsonrpc":"2.0","id":7,"method":"ping"}`,
		`{"id":[2],"result":1}` + "\nnoise\n" + `{"id":null}`, `{"id":2,"result":{"resultType":3}} x`, "[\n[\n{\"\n", `{"id":1.0e0,"result":{}}`,
	} {
		f.Add([]byte(s), uint8(40))
		f.Add([]byte(s), uint8(5))
	}
	f.Fuzz(func(t *testing.T, in []byte, limit uint8) {
		in = ourIDs(in)
		s := newSession(&inert{}, Options{Limits: Limits{Violations: 50, DuringCount: 20, Requests: 4}})
		if limit%2 == 0 {
			s.dialect.Store(&dialects[3])
		}
		ks := []*call{waiting(s, "tools/call"), waiting(s, "tools/list")}
		xs := []*Exchange{ks[0].x, ks[1].x}
		data := bytes.Clone(in)
		lines := NewLineReader(&pieces{data, 7}, int(limit)+20, 1<<20)
		for err := error(nil); err == nil; {
			err = lines.ReadLines(s)
			clear(lines.buf[:lines.r]) // consumed bytes are the reader's: nobody may look at them
		}
		s.Flush()
		s.End(&ClosedError{Reason: "end"})
		for i, k := range ks {
			select {
			case <-k.ready:
			default:
				t.Error("a call was not ended")
			}
			check(t, in, xs[i])
		}
		for _, v := range s.TakeViolations() {
			checkViolation(t, v)
		}
		s.wg.Wait()
	})
}

func check(t *testing.T, in []byte, x *Exchange) {
	if x.Cause == nil && x.Response == nil {
		t.Error("no response and no cause")
	}
	if (x.Result != nil || x.Error != nil) && !json.Valid(x.Response) {
		t.Errorf("a result from %q", x.Response)
	}
	if !bytes.Contains(x.Response, x.Result) || !bytes.Contains(x.Response, x.Error) {
		t.Error("result or error is not of the response")
	}
	if x.Response != nil && !bytes.ContainsRune(x.Response, '\n') && !bytes.Contains(in, x.Response) {
		t.Errorf("response %q is not what was sent", x.Response)
	}
	for _, v := range x.Violations {
		checkViolation(t, v)
	}
}

func checkViolation(t *testing.T, v Violation) {
	if !slices.ContainsFunc(ViolationKinds, func(k ViolationKind) bool { return k.Name == v.Kind }) {
		t.Errorf("kind %q", v.Kind)
	}
	if v.Msg == "" || len(v.Excerpt) > maxExcerpt || strings.ContainsAny(v.Excerpt, "\n\x00\x1b") {
		t.Errorf("violation %+v", v)
	}
}

// The envelope scan agrees with encoding/json on every object.
func FuzzEnvelope(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{"a":[1,"x",null]}}`))
	f.Add([]byte(`{"id":"a","id":3,"error":{},"method":"\u006d","params":[]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		s := NewScanner()
		err := s.Scan(raw)
		var want map[string]json.RawMessage
		if e := json.Unmarshal(raw, &want); e != nil || want == nil {
			if err == nil && e != nil && !strings.Contains(e.Error(), "exceeded max depth") {
				t.Errorf("scanned what encoding/json refuses: %v", e)
			}
			return
		}
		if err != nil {
			if !strings.Contains(err.Error(), "deep") {
				t.Fatalf("refused: %v", err)
			}
			return
		}
		for name, got := range map[string][]byte{"jsonrpc": s.version, "id": s.ID, "method": s.Method, "params": s.Params, "result": s.Result, "error": s.Err} {
			if !bytes.Equal(bytes.TrimSpace(want[name]), got) {
				t.Errorf("%s: %q, want %q", name, got, want[name])
			}
		}
	})
}

func TestExcerpt(t *testing.T) {
	for in, want := range map[string]string{
		"plain": "plain", "a\tb\r\n": `a\tb\r\n`, "\x1b[0m\x00\x7f": `\x1b[0m\x00\x7f`, "é\u202e\u200b": `é\u202e\u200b`,
		"\xff\xfe": `\xff\xfe`, `a\nb`: `a\\nb`, strings.Repeat("x", 200): strings.Repeat("x", 200),
		strings.Repeat("x", 201): strings.Repeat("x", 197) + "…", strings.Repeat("é", 150): strings.Repeat("é", 98) + "…",
	} {
		if got := Excerpt([]byte(in)); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}

func TestViolationKindsAreClosed(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range ViolationKinds {
		if seen[k.Name] || k.Doc == "" || k.Since == "" {
			t.Errorf("row %+v", k)
		}
		seen[k.Name] = true
	}
}

// slowPipe takes a few bytes at a time and then blocks until it is let go.
type slowPipe struct {
	io.Writer
	gate chan struct{}
}

func (p *slowPipe) Write(b []byte) (int, error) {
	<-p.gate
	return p.Writer.Write(b)
}

// A line that was begun is completed before the next, whatever becomes of its sender.
func TestWriterCompletesLines(t *testing.T) {
	var out bytes.Buffer
	p := &slowPipe{&out, make(chan struct{})}
	l := NewLineWriter(p)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := l.WriteLine(ctx, []byte("first")); err == nil || out.Len() > 0 {
		t.Error(err)
	}
	if err := l.WriteLine(ctx, []byte("never")); err == nil {
		t.Error("written")
	}
	close(p.gate)
	if err := l.WriteLine(t.Context(), []byte("second")); err != nil {
		t.Error(err)
	}
	if out.String() != "first\nsecond\n" {
		t.Errorf("%q", out.String())
	}
}

// No two requests have the same id, and none can be had by counting or from
// the one before it.
func TestIDs(t *testing.T) {
	s := newSession(&inert{}, Options{})
	steps := map[int64]int{}
	for n := int64(1); n <= 100_000; n++ {
		s.sent.Store(n)
		id := idAt(n)
		if id <= idAt(n-1) || id <= 1000 {
			t.Fatalf("id %d of request %d", id, n)
		}
		if !s.gave(id) || s.gave(id+1) || s.gave(id-1) || s.gave(idAt(n+1)) || s.gave(n) && n < 1000 {
			t.Fatalf("id %d of request %d is not told from its neighbours", id, n)
		}
		steps[id-idAt(n-1)]++
	}
	for step, times := range steps {
		if times > 200 {
			t.Errorf("%d ids are %d more than the one before", times, step)
		}
	}
}
