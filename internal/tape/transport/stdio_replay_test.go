package transport_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"mcptest/internal/base/secret"
	"mcptest/internal/base/testkit"
	"mcptest/internal/client/wire"
	"mcptest/internal/tape/cassette"
	"mcptest/internal/tape/transport"
)

// journal is a receiver that writes down what arrives.
type journal struct {
	wire.Receiver
	seen chan string
}

func (j *journal) OnFrame(f wire.Frame) bool {
	j.seen <- string(f.Raw[strings.LastIndex(string(f.Raw), `"id":`)+5:][:1])
	return false
}
func (j *journal) OnFailure(string, error, *wire.HTTPInfo) { j.seen <- "failure" }
func (j *journal) OnEnd(why *wire.ClosedError)             { j.seen <- fmt.Sprint("exit ", why.Exit.Code) }
func (j *journal) OnDrained()                              {}

// A process that exited by itself after it had answered everything exits in the replay
// when the client has sent all requests of before, in any order; one that left a request
// without a response exits with that request.
func TestStdioReplayExitsAfterEarlierRequests(t *testing.T) {
	const list = `"method":"tools/list"`
	call := func(n int) string {
		return fmt.Sprintf(`"method":"tools/call","params":{"name":"echo","arguments":{"n":%d}}`, n)
	}
	for _, row := range []struct {
		name, crash string // crash: the request without a response
		sent        []string
		want        string
	}{
		{"as recorded", "", []string{call(1), call(2), list}, "1 2 3 exit 7"},
		{"the list first", "", []string{list, call(1), call(2)}, "1 2 3 exit 7"},
		{"calls in the other order", "", []string{call(2), list, call(1)}, "1 2 3 exit 7"},
		{"a part", "", []string{call(2), list}, "1 2 exit 7"},
		{"the crash last", list, []string{call(2), call(1), list}, "1 2 exit 7"},
		{"the crash first", list, []string{list}, "exit 7"},
	} {
		t.Run(row.name, func(t *testing.T) {
			text := `{"mcptest_cassette":1,"server":{"name":"s","command":["s"]},"transport":"stdio","masks":[]}` + "\n"
			for i, request := range []string{call(1), call(2), list} {
				text += fmt.Sprintf(`{"session":1,"at_ms":%d,"dir":"to-server","message":{"jsonrpc":"2.0","id":%d,%s}}`+"\n", 10*i+1, i+51, request)
				if request != row.crash {
					text += fmt.Sprintf(`{"session":1,"at_ms":%d,"dir":"from-server","message":{"jsonrpc":"2.0","result":{},"id":%d}}`+"\n", 10*i+2, i+51)
				}
			}
			text += `{"session":1,"at_ms":40,"end":{"exit":{"code":7},"reason":"the server exited"}}` + "\n"
			c, err := cassette.Read("s", strings.NewReader(text), int64(len(text)))
			if err != nil {
				t.Fatal(err)
			}
			p, err := cassette.NewPlayer(c, secret.NewRedactor())
			if err != nil {
				t.Fatal(err)
			}
			tr, err := transport.ReplayStdio(p, 1, wire.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			j := &journal{seen: make(chan string, 20)}
			if err := tr.Start(j); err != nil {
				t.Fatal(err)
			}
			var got []string
			next := func() {
				select {
				case what := <-j.seen:
					got = append(got, what)
				case <-time.After(30 * time.Second):
					t.Fatalf("nothing arrives after %q", got)
				}
			}
			for i, request := range row.sent {
				if err := tr.Send(t.Context(), wire.Outgoing{ID: fmt.Sprint(i + 1), Raw: fmt.Appendf(nil, `{"jsonrpc":"2.0",%s,"id":%d}`, request, i+1)}); err != nil {
					t.Fatal(err)
				}
				next()
			}
			if stopped := tr.Close(t.Context()); stopped.Exit.Code != 7 {
				t.Errorf("ended with %v", stopped.Exit)
			}
			for len(j.seen) > 0 {
				next()
			}
			testkit.Equal(t, "what arrived", strings.Join(got, " "), row.want)
		})
	}
}
