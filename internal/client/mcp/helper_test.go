package mcp_test

import (
	"bufio"
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/wire"
	"mcptest/internal/server/mcpserver"
)

const helloResult = `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"f","version":"1"}}`

// peer is the server's end of an in-process connection, driven line by line.
type peer struct {
	t  testing.TB
	rw io.ReadWriteCloser
	in *bufio.Reader
}

func (p *peer) read() string {
	l, err := p.in.ReadString('\n')
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(l, "\n")
}

func (p *peer) write(lines ...string) {
	io.WriteString(p.rw, strings.Join(lines, "\n")+"\n")
}

// scripted opens a session with a peer that shakes hands and then runs serve on
// its own goroutine.
func scripted(t testing.TB, o mcp.Options, serve func(p *peer)) *mcp.Session {
	t.Helper()
	if o.Capabilities.IsAbsent() {
		o.Capabilities = jsonv.ObjectOf("roots", jsonv.Object(), "sampling", jsonv.Object(), "elicitation", jsonv.Object())
	}
	tr, rw := wire.NewPipe()
	p := &peer{t: t, rw: rw, in: bufio.NewReader(rw)}
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		defer rw.Close()
		p.write(`{"jsonrpc":"2.0","id":` + idOf([]byte(p.read())) + `,"result":` + helloResult + `}`)
		p.read()
		serve(p)
	}()
	s, err := mcp.Open(context.Background(), tr, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close(context.Background())
		wg.Wait()
	})
	return s
}

// handled opens a session with a server made of a handler.
func handled(t testing.TB, o mcp.Options, h mcpserver.HandlerFunc) *mcp.Session {
	t.Helper()
	tr, rw := wire.NewPipe()
	done := make(chan error, 1)
	go func() {
		err := mcpserver.ServeStdio(context.Background(), rw, rw, mcpserver.HandlerFunc(func(ctx context.Context, r *mcpserver.Request) *mcpserver.Reply {
			if r.Method == "initialize" {
				return &mcpserver.Reply{Result: []byte(helloResult)}
			}
			return h(ctx, r)
		}))
		rw.Close()
		done <- err
	}()
	s, err := mcp.Open(context.Background(), tr, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close(context.Background())
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s
}

func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := mcp.WithLimit(context.Background(), "timeout", d)
	t.Cleanup(cancel)
	return ctx
}

// outcome is the part of an exchange that most tests compare.
type outcome struct {
	Cause                             error
	Result, Error, Violations, During string
}

func outcomeOf(x *mcp.Exchange) outcome {
	return outcome{x.Cause, string(x.Result), string(x.Error), kinds(x.Violations), methods(x.During)}
}

// methods lists the messages of an exchange.
func methods(ms []mcp.Message) string {
	var out []string
	for _, m := range ms {
		out = append(out, m.Kind.String()+" "+m.Method)
	}
	return strings.Join(out, ", ")
}
