package cassette_test

import (
	"fmt"
	"strings"
	"testing"

	"mcptest/internal/base/secret"
	"mcptest/internal/base/testkit"
	"mcptest/internal/tape/cassette"
)

func call(id int, args string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"t","arguments":%s,"_meta":{"progressToken":%d}}}`, id, args, id)
}

func answer(id int, text string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%q}`, id, text)
}

// played opens a player on a recording of one session.
func played(t *testing.T, volatile []string, frames ...cassette.Frame) *cassette.Player {
	t.Helper()
	c, err := cassette.Open(write(t, frames...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.Ignore(volatile); err != nil {
		t.Fatal(err)
	}
	p, err := cassette.NewPlayer(c, secret.NewRedactor())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// player records a session in which the same requests have different responses, and
// overlapping calls.
func player(t *testing.T, volatile ...string) *cassette.Player {
	t.Helper()
	return played(t, volatile,
		to(call(1, `{"do":"inc"}`)), from(answer(1, "1 of first")), to(call(2, `{"do":"get","now":1}`)), from(answer(2, "get of first")),
		to(call(3, `{"do":"inc"}`)), from(answer(3, "2 of first")), to(call(4, `{"do":"get","now":1}`)), from(answer(4, "last of first")),
		to(call(5, `{"key":"a [redacted] z"}`)), to(call(6, `{"do":"slow"}`)), from(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":5}}`),
		from(answer(6, "slow")), from(answer(5, "key")),
	)
}

// response sends a message and returns the recorded response with its live id.
func response(t *testing.T, p *cassette.Player, c *cassette.Client, raw string) string {
	t.Helper()
	got, miss := c.Take([]byte(raw))
	if miss != nil {
		return miss.Error()
	}
	data, err := p.Cassette().Read(got.Response)
	if err != nil {
		t.Fatal(err)
	}
	return string(got.Rewrite(data, cassette.ReadLive([]byte(raw))))
}

// Requests without parameters match by their method and protocol version only.
func TestPlayerDistinguishesMethods(t *testing.T) {
	request := func(id int, method, version string) string {
		if version == "" {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q}`, id, method)
		}
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":%q}}}`, id, method, version)
	}
	p := played(t, nil, to(request(1, "prompts/list", "")), from(answer(1, "prompts")), to(request(2, "tools/list", "")), from(answer(2, "tools")),
		to(request(3, "tools/list", "2026-07-28")), from(answer(3, "tools without a session")))
	client := p.Client(1)
	for _, row := range []struct{ method, version, want string }{
		{"tools/list", "2026-07-28", "tools without a session"}, {"tools/list", "", `"tools"`}, {"prompts/list", "", "prompts"},
	} {
		if got := response(t, p, client, request(9, row.method, row.version)); !strings.Contains(got, row.want) {
			t.Errorf("%s %s: got %s, expected %s", row.method, row.version, got, row.want)
		}
	}
}

// A list that the recorded client cancelled is not used if another one is complete:
// the live client may not cancel it, and would wait for its response.
func TestPlayerAvoidsCancelledLists(t *testing.T) {
	list := func(id int) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`, id) }
	client := played(t, nil, to(list(1)), to(list(2)), from(answer(1, "first")),
		to(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`), from(answer(2, "late"))).Client(1)
	for id := 7; id < 9; id++ {
		got, miss := client.Take([]byte(list(id)))
		if miss != nil {
			t.Fatalf("list %d: %v", id, miss)
		}
		testkit.Equal(t, "the number of frames: a recording that waits for a cancellation has two", len(got.Frames), 1)
	}
}

// Identical requests get their recordings in order, and only ids change; overlapping
// calls keep their own messages.
func TestPlayerMatches(t *testing.T) {
	p := player(t)
	c := p.Client(1)
	for i, row := range []struct{ args, want string }{
		{`{"do":"inc"}`, "1 of first"},
		{`{"do":"inc"}`, "2 of first"},
		{`{"now":1.0,"do":"get"}`, "get of first"},
		{`{"do":"get","now":1}`, "last of first"},
		{`{"key":"a secret z"}`, "key"},
		{`{"do":"get","now":1}`, "that is not used yet; the last one is in line"},
		{`{"do":"get","now":2}`, "arguments.now is 2 (recorded: 1)"},
		{`{"key":"another"}`, "the nearest is in line"},
	} {
		id := 100 + i
		got := response(t, p, c, call(id, row.args))
		if !strings.Contains(got, row.want) || i < 5 && !strings.Contains(got, fmt.Sprintf(`"id":%d,`, id)) {
			t.Errorf("%s: %s, expected %s", row.args, got, row.want)
		}
	}
	for _, call := range p.Calls() {
		if call.ID == "5" && len(call.Frames) != 2 {
			t.Errorf("the overlapped call has %d frames, expected its progress and its response", len(call.Frames))
		}
	}
	var unused []string
	for _, call := range p.ListUnused() {
		unused = append(unused, call.ID)
	}
	testkit.Equal(t, "the unused calls", unused, []string{"6"})
}

// A volatile path is ignored.
func TestPlayerIgnoresVolatilePaths(t *testing.T) {
	p := player(t, "arguments.now")
	if got := response(t, p, p.Client(1), call(9, `{"do":"get","now":77}`)); !strings.Contains(got, "get of first") {
		t.Error(got)
	}
}

// A message that names a call belongs to it, even if it is not JSON, truncated, or a second
// response; two calls are open, and the other one is later.
func TestPlayerFilesOddResponses(t *testing.T) {
	long := from(`{"jsonrpc":"2.0","id":1,"result":{"text":"xxx`)
	long.Omitted = 20 << 20
	last := from(`{"jsonrpc":"2.0","result":{"text":"xxx`)
	last.Omitted, last.Tail = 20<<20, cassette.TailOf([]byte(`xxx"},"id":1}`+"\n"))
	for name, odd := range map[string][]cassette.Frame{
		"NUL": {from("\x00" + answer(1, "x"))}, "too large": {long}, "too large, the id last": {last}, "twice": {from(answer(1, "x")), from(answer(1, "y"))},
	} {
		frames := append([]cassette.Frame{to(call(1, `{"n":1}`)), to(call(2, `{"n":2}`))}, odd...)
		p := played(t, nil, append(frames, from(answer(2, "z")))...)
		calls := p.Calls()
		if n := len(calls[0].Frames); n != len(odd) {
			t.Errorf("%s: the call has %d frames, expected %d", name, n, len(odd))
		}
		if name != "NUL" && calls[0].Response == nil {
			t.Errorf("%s: no response", name)
		}
		got := string(calls[0].Rewrite([]byte(`"},"id":1}`), cassette.Live{ID: "99"}))
		if got != `"},"id":99}` {
			t.Errorf("%s: the end has the id %s", name, got)
		}
	}
}

// A client may request a list before or after the call during which it did so in the
// recording; the end of the connection belongs to the call.
func TestPlayerEndsConnectionDuringCall(t *testing.T) {
	end := cassette.Frame{Session: 1, End: &cassette.End{Reason: "the server exited"}}
	p := played(t, nil, to(call(1, `{}`)), to(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`), end)
	calls := p.Calls()
	testkit.Equal(t, "the numbers of frames: the end is one", []int{len(calls[0].Frames), len(calls[1].Frames)}, []int{1, 0})
}

// The order of identical requests is kept if the live client leaves out or moves
// others, and a request that distinguishes them still does.
func TestPlayerKeepsOrderOfIdenticalRequests(t *testing.T) {
	var frames []cassette.Frame
	for i, args := range strings.Split("c c c e c c c a g b g", " ") {
		frames = append(frames, to(call(i+1, fmt.Sprintf(`{"do":%q}`, args))), from(answer(i+1, fmt.Sprint(i+1))))
	}
	for sent, want := range map[string]string{
		"c c c e c c c": "1 2 3 4 5 6 7", "c c c c c c": "1 2 3 5 6 7", "e c c c c c c": "4 1 2 3 5 6 7", "c e c c c c c": "1 4 2 3 5 6 7",
		"b g a g": "10 11 8 9", "g g": "9 11", "c c c b g": "1 2 3 10 11",
	} {
		p := played(t, nil, frames...)
		c := p.Client(1)
		var got []string
		for i, args := range strings.Split(sent, " ") {
			_, text, _ := strings.Cut(response(t, p, c, call(90+i, fmt.Sprintf(`{"do":%q}`, args))), `"result":"`)
			got = append(got, strings.TrimRight(text, `"}`))
		}
		testkit.Equal(t, sent, strings.Join(got, " "), want)
	}
}

// After the last recording of a request, that one is the nearest.
func TestPlayerNamesLastRecording(t *testing.T) {
	p := player(t)
	c := p.Client(1)
	for range 2 {
		response(t, p, c, call(9, `{"do":"inc"}`))
	}
	_, miss := c.Take([]byte(call(9, `{"do":"inc"}`)))
	if miss == nil || miss.Nearest == nil {
		t.Fatalf("the miss is %v", miss)
	}
	testkit.Equal(t, "the nearest call", miss.Nearest.ID, "3")
}

// A request that the recorded server refused is not served, and the message names it.
func TestPlayerNamesRefusedRequest(t *testing.T) {
	request, head := to(call(1, `{}`)), from("kaput")
	request.Stream, request.HTTP, head.Stream, head.HTTP = 1, &cassette.HTTP{Method: "POST"}, 1, &cassette.HTTP{Status: 500}
	p := played(t, nil, request, head)
	p.OmitRefusals()
	_, miss := p.Client(1).Take([]byte(call(2, `{}`)))
	if miss == nil || !strings.Contains(miss.Error(), ":2: the recorded server refused tools/call") || !strings.Contains(miss.Error(), "HTTP 500") {
		t.Error(miss)
	}
}
