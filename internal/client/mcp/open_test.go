package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/testkit"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/process/proc"
)

// openFault is a server that does something odd before there is a session.
type openFault struct {
	name    string
	act     func(s *faulty)
	proto   string
	timeout time.Duration
	opens   string   // revision, when it opens all the same
	want    []string // parts of the error with its detail
	notWant string
	session string // kinds of violations when it opens
	hello   string // kinds of violations of the handshake
}

func hello(s *faulty, revision string) {
	id := idOf(s.line())
	s.write(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"%s","capabilities":{},"serverInfo":{"name":"f","version":"1"}}}`+"\n", id, revision)
	for {
		s.line()
	}
}

func helloWith(result string) func(s *faulty) {
	return func(s *faulty) {
		id := idOf(s.line())
		s.write(`{"jsonrpc":"2.0","id":` + id + `,"result":` + result + "}\n")
		for {
			s.line()
		}
	}
}

var openFaults = []openFault{
	{name: "open-newest", act: func(s *faulty) { hello(s, "2025-11-25") }, opens: "2025-11-25"},
	{name: "open-oldest", act: func(s *faulty) { hello(s, "2024-11-05") }, opens: "2024-11-05"},
	{name: "open-pinned", proto: "2025-03-26", act: func(s *faulty) { hello(s, "2025-03-26") }, opens: "2025-03-26"},
	{
		name: "open-pinned-other", proto: "2025-03-26", act: func(s *faulty) { hello(s, "2025-11-25") },
		want: []string{`protocol: asked for protocol version 2025-03-26, the server responded with "2025-11-25"`},
	},
	{
		name: "open-unknown", act: func(s *faulty) { hello(s, "1999-01-01") },
		want: []string{`protocol: the server responded with protocol version "1999-01-01", which is not supported (known: 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05)`},
	},
	{name: "open-pin-unknown", proto: "1999-01-01", act: func(s *faulty) { hello(s, "1999-01-01") }, want: []string{`protocol version "1999-01-01" is not supported`}},
	{name: "open-noise", act: func(s *faulty) { s.write("Starting...\n"); hello(s, "2025-11-25") }, opens: "2025-11-25", session: protocol.StrayOutput},
	{name: "open-noise-after", act: func(s *faulty) {
		id := idOf(s.line())
		s.write(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"f","version":"1"}}}`+"\nready\n", id)
		s.line()
	}, opens: "2025-06-18", session: protocol.StrayOutput},
	{name: "open-exit", act: func(*faulty) {
		for i := range 30 {
			fmt.Fprintln(os.Stderr, "line", i)
		}
		fmt.Println("Usage: server")
		os.Exit(2)
	}, want: []string{"the server exited with status 2 before responding to initialize", "stray-output", "last line on stdout: Usage: server", "  line 29\n", "  line 0\n"}, notWant: "line 9\n"},
	{name: "open-killed", act: func(*faulty) { p, _ := os.FindProcess(os.Getpid()); p.Kill(); hang() }, want: []string{"signal: killed"}},
	{name: "open-silent", act: func(*faulty) { hang() }, timeout: 100 * time.Millisecond, want: []string{"initialize timed out after ", "(limit: connect_timeout 100ms)"}},
	{name: "open-junk", act: func(s *faulty) {
		s.drip(20*time.Millisecond, slices.Repeat([]string{"I am an HTTP server\n"}, 5000)...)
	}, timeout: 5 * time.Second, want: []string{"connect_timeout 5s", "stray-output at byte 0", "last line on stdout: I am an HTTP server"}},
	{name: "open-cat", act: func(s *faulty) {
		for {
			s.write(string(s.line()))
		}
	}, want: []string{"the server sent the request itself back", "echo at byte 0"}},
	{name: "open-error", act: func(s *faulty) {
		s.write(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"no license"}}`+"\n", idOf(s.line()))
		s.line()
	}, want: []string{"the server refused initialize: no license (code -32603)"}},
	{name: "open-error-supported", act: func(s *faulty) {
		s.write(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"Unsupported protocol version","data":{"supported":["2024-11-05","2025-03-26","x"],"requested":"2025-11-25"}}}`+"\n", idOf(s.line()))
		hello(s, "2025-03-26")
	}, opens: "2025-03-26"},
	{name: "open-result-list", act: helloWith("[]"), want: []string{"no protocolVersion", "bad-result"}},
	{name: "open-empty", act: helloWith("{}"), want: []string{"the response to initialize has no protocolVersion"}},
	{name: "open-version-number", act: helloWith(`{"protocolVersion":20251125}`), want: []string{"no protocolVersion"}},
	{name: "open-no-server-info", act: helloWith(`{"protocolVersion":"2025-11-25","capabilities":{}}`), opens: "2025-11-25", hello: protocol.BadResult},
	{name: "open-string-id", act: func(s *faulty) {
		s.write(`{"jsonrpc":"2.0","id":"%s","result":`+helloResult+"}\n", idOf(s.line()))
		for {
			s.line()
		}
	}, opens: "2025-11-25", hello: protocol.IDType},
	{name: "open-asks-first", act: func(s *faulty) {
		id := idOf(s.line())
		s.write(`{"jsonrpc":"2.0","id":"p","method":"ping"}` + "\n")
		if l := s.line(); string(l) != `{"jsonrpc":"2.0","id":"p","result":{}}`+"\n" {
			os.Exit(5)
		}
		s.write(`{"jsonrpc":"2.0","id":` + id + `,"result":` + helloResult + "}\n")
		s.line()
	}, opens: "2025-11-25"},
	{name: "open-stays", act: func(s *faulty) { go func() { hang() }(); helloForever(s) }, opens: "2025-11-25"},
}

// helloForever shakes hands and then ignores the end of its input.
func helloForever(s *faulty) {
	s.write(`{"jsonrpc":"2.0","id":` + idOf(s.line()) + `,"result":` + helloResult + "}\n")
	hang()
}

func TestOpen(t *testing.T) {
	for _, f := range openFaults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			o := mcp.Options{Protocol: f.proto, ConnectTimeout: f.timeout}
			if o.ConnectTimeout == 0 {
				o.ConnectTimeout = time.Minute
			}
			s, err := mcp.Open(t.Context(), start(t, f.name, wire.Limits{}), o)
			if f.opens == "" {
				f.checkError(t, err)
				return
			}
			if err != nil {
				t.Fatal(err, detailOf(err))
			}
			if s.Protocol() != f.opens || s.ServerInfo().Lookup("protocolVersion").Text() != f.opens || !s.Alive() || s.ProtocolVersion().Name != f.opens {
				t.Errorf("revision %s, want %s", s.Protocol(), f.opens)
			}
			var vs []protocol.Violation
			if !testkit.Poll(time.Minute, func() bool {
				vs = append(vs, s.TakeViolations()...)
				return kinds(vs) == f.session
			}) {
				t.Error(vs)
			}
			if vs := s.Handshake().Violations; kinds(vs) != f.hello {
				t.Error(vs)
			}
			stopped := s.Close(context.Background())
			if f.name == "open-stays" && stopped.How != proc.ByTerm {
				t.Errorf("stopped %v", stopped.How)
			}
			if s.Alive() || s.Err() == nil {
				t.Error("alive after Close")
			}
		})
	}
}

func detailOf(err error) string {
	var open *wire.OpenError
	if errors.As(err, &open) {
		return open.Error() + "\n" + open.Detail()
	}
	return fmt.Sprint(err)
}

func (f *openFault) checkError(t *testing.T, err error) {
	if !errors.As(err, new(*wire.OpenError)) {
		t.Fatalf("no OpenError: %v", err)
	}
	got := detailOf(err)
	for _, want := range f.want {
		if !strings.Contains(got, want) {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
	if f.notWant != "" && strings.Contains(got, f.notWant) {
		t.Errorf("got %s\nwith %s", got, f.notWant)
	}
}

func TestStartFails(t *testing.T) {
	_, err := wire.NewStdio(t.Context(), proc.Spec{Argv: []string{"/no/such/server"}}, wire.StdioOptions{})
	var open *wire.OpenError
	if !errors.As(err, &open) || open.Phase != "start" || !strings.Contains(err.Error(), "/no/such/server") {
		t.Errorf("%v", err)
	}
}

// What initialize says of us.
func TestInitializeParams(t *testing.T) {
	tr, rw := wire.NewPipe()
	got := make(chan string, 1)
	go func() {
		buf := make([]byte, 4096)
		n, _ := rw.Read(buf)
		got <- string(buf[:n])
		rw.Close()
	}()
	_, err := mcp.Open(t.Context(), tr, mcp.Options{
		Client:       mcp.Implementation{Name: "n", Title: "t", Version: "v"},
		Capabilities: jsonv.Object(jsonv.Member{Key: "roots", Value: jsonv.Object()}),
	})
	want := `{"jsonrpc":"2.0","id":` + mcp.ID(1) + `,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"n","title":"t","version":"v"}}}` + "\n"
	if g := <-got; g != want {
		t.Errorf("sent %s", g)
	}
	if err == nil || !strings.Contains(err.Error(), "the server closed the connection") {
		t.Error(err)
	}
}
