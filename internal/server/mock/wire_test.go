package mock_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/server/manifest"
	"mcptest/internal/server/mock"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lineClient is a client that writes and reads lines without interpreting them.
type lineClient struct {
	t      *testing.T
	in     *io.PipeWriter
	lines  chan string
	id     int
	stderr *bytes.Buffer
	done   chan int // the exit code
}

func load(t testing.TB, text string) *manifest.Manifest {
	t.Helper()
	m, ds := manifest.Load(&source.File{Name: "m.yaml", Data: []byte(text)})
	if m == nil {
		t.Fatalf("load: %v", ds)
	}
	return m
}

// connect serves a manifest and initializes a session with the given capabilities.
func connect(t *testing.T, m *manifest.Manifest, o mock.Options, capabilities string) *lineClient {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	w := &lineClient{t: t, in: inW, lines: make(chan string, 1000), stderr: &bytes.Buffer{}, done: make(chan int, 1)}
	o.Stderr = w.stderr
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		code, err := mock.New(m, o).ServeStdio(ctx, inR, outW)
		if err != nil {
			t.Errorf("serve: %v", err)
		}
		outW.Close()
		w.done <- code
		inR.Close()
	}()
	go func() {
		defer close(w.lines)
		s := bufio.NewScanner(outR)
		s.Buffer(nil, 1<<25)
		for s.Scan() {
			w.lines <- s.Text()
		}
	}()
	t.Cleanup(func() {
		cancel()
		inW.Close()
		outR.Close()
		<-w.done
	})
	w.call("initialize", fmt.Sprintf(`{"protocolVersion":"2025-06-18","capabilities":%s,"clientInfo":{"name":"wire","version":"9"}}`, capabilities))
	w.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return w
}

func (w *lineClient) send(line string) {
	w.t.Helper()
	if _, err := io.WriteString(w.in, line+"\n"); err != nil {
		w.t.Fatalf("send: %v", err)
	}
}

func (w *lineClient) read() (string, bool) {
	w.t.Helper()
	select {
	case l, ok := <-w.lines:
		return l, ok
	case <-time.After(time.Minute):
		w.t.Fatal("nothing was written within a minute")
	}
	return "", false
}

// call sends a request and returns its response, and the messages before it.
func (w *lineClient) call(method, params string) (answer string, before []string) {
	w.t.Helper()
	w.id++
	if params == "" {
		params = "{}"
	}
	w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, w.id, method, params))
	for {
		l, ok := w.read()
		if !ok {
			w.t.Fatalf("the server hung up on %s", method)
		}
		if v, err := jsonv.Parse([]byte(l)); err == nil && v.Lookup("method").IsAbsent() && v.Lookup("id").String() == fmt.Sprint(w.id) {
			return strings.TrimPrefix(l, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,`, w.id)), before
		}
		before = append(before, l)
	}
}

// tool calls a tool and returns the rest of the response after its id.
func (w *lineClient) tool(name, args string) string {
	w.t.Helper()
	answer, _ := w.call("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, args))
	return answer
}

func text(s string) string {
	return `"result":{"content":[{"type":"text","text":` + string(jsonv.AppendString(nil, s)) + `}]}}`
}

func failed(s string) string {
	return `"result":{"content":[{"type":"text","text":` + string(jsonv.AppendString(nil, s)) + `}],"isError":true}}`
}

func same(t *testing.T, what, got, want string) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// one returns a manifest with a tool t that has the response and accepts any
// arguments.
func one(response string) string {
	return "mock_server:\n  name: x\n  state: {n: 1, list: [a, b], deep: {k: {v: 7}}}\n  tools:\n    - name: t\n      response: " +
		strings.ReplaceAll(response, "\n", "\n        ") + "\n"
}
