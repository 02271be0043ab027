package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"mcptest/internal/client/mcp"
	"mcptest/internal/client/wire"
	"mcptest/internal/process/proc"
)

var benchParams = []byte(`{"name":"echo","arguments":{"text":"hello"}}`)

// floorPipes starts the floor server on bare pipes.
func floorPipes(b *testing.B) (w, r *os.File) {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serverEnv+"=floor")
	inR, inW, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	cmd.Stdin, cmd.Stdout = inR, outW
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	inR.Close()
	outW.Close()
	b.Cleanup(func() {
		inW.Close()
		cmd.Wait()
		outR.Close()
	})
	return inW, outR
}

// BenchmarkFloor measures a minimal client that writes a line and reads one.
func BenchmarkFloor(b *testing.B) {
	line := append([]byte(`{"jsonrpc":"2.0","id":12345,"method":"tools/call","params":`), benchParams...)
	line = append(line, '}', '\n')
	for _, parse := range []bool{false, true} {
		name := "line"
		if parse {
			name = "parsed"
		}
		b.Run(name, func(b *testing.B) {
			w, r := floorPipes(b)
			in := bufio.NewReader(r)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := w.Write(line); err != nil {
					b.Fatal(err)
				}
				answer, err := in.ReadSlice('\n')
				if err != nil {
					b.Fatal(err)
				}
				if parse {
					var m map[string]any
					if err := json.Unmarshal(answer, &m); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

func benchSession(b *testing.B, t wire.Transport) {
	s, err := mcp.Open(b.Context(), t, mcp.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close(context.Background())
	ctx, cancel := mcp.WithLimit(b.Context(), "timeout", time.Minute)
	defer cancel()
	one := func(b *testing.B) {
		if x := s.Do(ctx, mcp.Call{Method: "tools/call", Params: benchParams}); x.Cause != nil || len(x.Violations) > 0 {
			b.Fatal(x.Cause, x.Violations)
		}
	}
	b.Run("1", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			one(b)
		}
	})
	for _, n := range []int{8, 64} {
		b.Run(map[int]string{8: "8", 64: "64"}[n], func(b *testing.B) {
			b.ReportAllocs()
			var wg sync.WaitGroup
			for i := range n {
				calls := b.N / n
				if i < b.N%n {
					calls++
				}
				wg.Add(1)
				go func() {
					defer wg.Done()
					for range calls {
						one(b)
					}
				}()
			}
			wg.Wait()
		})
	}
}

// BenchmarkPipes is a session over bare pipes; BenchmarkHandOff the same with a
// reader goroutine only.
func BenchmarkPipes(b *testing.B) {
	w, r := floorPipes(b)
	benchSession(b, wire.NewStream(r, w, wire.Limits{}))
}

// noDeadline hides the deadlines of a pipe, so that no caller reads directly.
type noDeadline struct{ f *os.File }

func (n noDeadline) Read(p []byte) (int, error) { return n.f.Read(p) }
func (n noDeadline) Close() error               { return n.f.Close() }

func BenchmarkHandOff(b *testing.B) {
	w, r := floorPipes(b)
	benchSession(b, wire.NewStream(noDeadline{r}, w, wire.Limits{}))
}

// BenchmarkStdio measures a session in its normal configuration.
func BenchmarkStdio(b *testing.B) {
	t, err := wire.NewStdio(b.Context(), proc.Spec{Argv: []string{os.Args[0]}, Env: append(os.Environ(), serverEnv+"=floor")}, wire.StdioOptions{})
	if err != nil {
		b.Fatal(err)
	}
	benchSession(b, t)
}
