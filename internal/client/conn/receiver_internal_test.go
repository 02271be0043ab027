package conn

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"mcptest/internal/base/testkit"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/process/proc"
)

// inert is a transport that discards what is sent; tests pass frames to the session.
type inert struct{ early []string }

func (t *inert) Start(sink wire.Receiver) error {
	for _, l := range t.early {
		sink.OnFrame(wire.Frame{Dir: wire.FromServer, Raw: []byte(l), At: time.Now()})
	}
	sink.OnDrained()
	return nil
}

func (*inert) Send(context.Context, wire.Outgoing) error { return nil }

func (*inert) Close(context.Context) proc.Stopped { return proc.Stopped{} }

func (*inert) Facts() wire.Facts { return wire.Facts{Kind: "inert"} }

func TestEarlyAnswer(t *testing.T) {
	for _, line := range []string{`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":"x","result":{}}`, `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}`} {
		s := New(&inert{early: []string{line}}, Options{})
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
		var kinds []string
		for _, v := range s.TakeViolations() {
			kinds = append(kinds, v.Kind)
		}
		testkit.Equal(t, line+": the violations", kinds, []string{protocol.EarlyResponse})
	}
}

// A line over the limit that is only white space is one violation.
func TestBlankLineOverTheLimit(t *testing.T) {
	s := New(&inert{}, Options{})
	k := waiting(s, "tools/call")
	x := k.x
	lines := wire.NewLineReader(strings.NewReader(strings.Repeat(" ", 5000)+"\n"+`{"jsonrpc":"2.0","id":`+x.ID+`,"result":{}}`+"\n"), 1000, 1<<20)
	for err := error(nil); err == nil; {
		err = lines.ReadLines(s.in)
	}
	testkit.Equal(t, "the result", string(x.Result), "{}")
	vs := s.TakeViolations()
	if len(vs) != 1 {
		t.Fatalf("violations %v, want one", vs)
	}
	testkit.Equal(t, "the kind", vs[0].Kind, protocol.Oversize)
}

// ourIDs replaces the digits 1 and 2 with the ids of the first two requests.
func ourIDs(in []byte) []byte {
	for n, key := range []string{`1`, `2`} {
		for _, before := range []string{`"id":`, `"id":"`, `"id":[`, `Token":"`} {
			in = bytes.ReplaceAll(in, []byte(before+key), []byte(before+idText(protocol.IDAt(int64(n+1)))))
		}
	}
	return in
}

// waiting registers a call as pending without sending it.
func waiting(s *Conn, method string) *call {
	k, err := s.begin(Call{Method: method, ProgressToken: true}, &Exchange{Method: method})
	if err != nil {
		panic(err)
	}
	return k
}

// For any bytes of a server: no panic, each call is signalled at most once, all calls end
// with the session, and kept data is a copy.
func FuzzReceiver(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{}}`, "{\n\"id\":1\n}\n", `[{"id":1},{"id":2,"result":[]}]`, "\xef\xbb\xbf\x00{}", `{"id":"1","error":null}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"1"}}`, `{"jsonrpc":"2.0","id":7,"method":"ping"}`,
		`{"id":[2],"result":1}` + "\nnoise\n" + `{"id":null}`, `{"id":2,"result":{"resultType":3}} x`, "[\n[\n{\"\n", `{"id":1.0e0,"result":{}}`,
	} {
		f.Add([]byte(s), uint8(40))
		f.Add([]byte(s), uint8(5))
	}
	// Each seed reaches code that no other seed does.
	f.Add([]byte("\\\\\\\\\\\\{\"\"\xa5"), byte('e'))
	f.Add([]byte("[[[[[[[[["), byte('~'))
	f.Add([]byte("{}\"id\":]resul}\nnoise\n{\x18\x15\"id\":n"), byte('\v'))
	f.Add([]byte("{\n\"\\\x8c\xafW\x9c\xa9\x14\xc5W\xc6\xe9\x81\u05ca\x1b\xac\xca\a`o\x92d\""), byte('('))
	f.Fuzz(func(t *testing.T, in []byte, limit uint8) {
		in = ourIDs(in)
		s := New(&inert{}, Options{Limits: wire.Limits{Violations: 50, DuringCount: 20, Requests: 4}})
		if limit%2 == 0 {
			batches := protocol.VersionOf("2025-03-26")
			s.SetVersion(batches)
		}
		ks := []*call{waiting(s, "tools/call"), waiting(s, "tools/list")}
		xs := []*Exchange{ks[0].x, ks[1].x}
		lines := wire.NewLineReader(iotest.OneByteReader(bytes.NewReader(in)), int(limit)+20, 1<<20)
		for err := error(nil); err == nil; {
			err = lines.ReadLines(overwriting{s.in})
		}
		s.in.OnDrained()
		s.in.OnEnd(&wire.ClosedError{Reason: "end"})
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

// overwriting overwrites each frame that the receiver did not keep.
type overwriting struct{ *receiver }

func (o overwriting) OnFrame(f wire.Frame) bool {
	kept := o.receiver.OnFrame(f)
	if !kept {
		clear(f.Raw)
	}
	return kept
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

func checkViolation(t *testing.T, v protocol.Violation) {
	if !slices.ContainsFunc(protocol.ViolationKinds, func(k protocol.ViolationKind) bool { return k.Name == v.Kind }) {
		t.Errorf("kind %q", v.Kind)
	}
	if v.Msg == "" || len(v.Excerpt) > protocol.MaxExcerpt || strings.ContainsAny(v.Excerpt, "\n\x00\x1b") {
		t.Errorf("violation %+v", v)
	}
}

// Request ids are unique, and cannot be guessed by counting or from the previous id.
func TestIDs(t *testing.T) {
	s := New(&inert{}, Options{})
	steps := map[int64]int{}
	for n := int64(1); n <= 100_000; n++ {
		s.state.calls.sent.Store(n)
		id := protocol.IDAt(n)
		if id <= protocol.IDAt(n-1) || id <= 1000 {
			t.Fatalf("id %d of request %d", id, n)
		}
		if !s.state.calls.wasSent(id) || s.state.calls.wasSent(id+1) || s.state.calls.wasSent(id-1) || s.state.calls.wasSent(protocol.IDAt(n+1)) || s.state.calls.wasSent(n) && n < 1000 {
			t.Fatalf("id %d of request %d is confused with its neighbors", id, n)
		}
		steps[id-protocol.IDAt(n-1)]++
	}
	for step, times := range steps {
		if times > 200 {
			t.Errorf("%d ids are %d more than the one before", times, step)
		}
	}
}

// The program reads lists while a test's first call is under way. Which of them is sent
// first changes no id of a test.
func TestIDsOfOwnRequests(t *testing.T) {
	for _, order := range [][]bool{{true, false, true, false}, {false, false, true, true}} {
		s := New(&inert{}, Options{})
		calls, seen := s.state.calls, map[int64]bool{}
		var tests []int64
		for _, own := range order {
			id := protocol.IDAt(calls.number(own))
			if !own {
				tests = append(tests, id)
			}
			testkit.Equal(t, idText(id)+": whether it was given before", seen[id], false)
			testkit.Equal(t, idText(id)+": whether it counts as sent", calls.wasSent(id), true)
			seen[id] = true
		}
		if want := []int64{protocol.IDAt(1), protocol.IDAt(2)}; !slices.Equal(tests, want) {
			t.Errorf("%v: the tests have the ids %d, want %d", order, tests, want)
		}
		if calls.wasSent(protocol.IDAt(3)) || calls.wasSent(protocol.IDAt(ownNumbers+3)) || calls.wasSent(protocol.IDAt(2*ownNumbers+1)) {
			t.Error("ids that were never given count as sent")
		}
		calls.sent.Store(ownNumbers)
		if id := protocol.IDAt(calls.number(false)); seen[id] || !calls.wasSent(id) || calls.wasSent(protocol.IDAt(ownNumbers+3)) {
			t.Errorf("id %d after a million requests", id)
		}
	}
}
