package tee_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"mcptest/internal/base/secret"
	"mcptest/internal/base/testkit"
	"mcptest/internal/process/proc"
	"mcptest/internal/tape/cassette"
	"mcptest/internal/tape/tee"
)

// TestMain acts as a server if the test binary is started as one.
func TestMain(m *testing.M) {
	switch os.Getenv("TEE_SERVER") {
	case "":
		os.Exit(m.Run())
	case "echo":
		_, _ = io.Copy(os.Stdout, os.Stdin)
	case "exit":
		fmt.Fprint(os.Stderr, "no line end")
		fmt.Print("partial")
		os.Exit(7)
	case "hang":
		fmt.Println("ready")
		select {}
	case "closed":
		os.Stdout.Close()
		<-time.After(time.Hour)
	case "deaf", "stubborn":
		// They ignore the end of the input, and respond slowly.
		if os.Getenv("TEE_SERVER") == "stubborn" {
			signal.Ignore(syscall.SIGTERM)
		}
		requests, _ := io.ReadAll(os.Stdin)
		if strings.Contains(string(requests), `"slow"`) {
			<-time.After(time.Second)
			fmt.Println(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		}
		<-time.After(time.Hour)
	}
}

// server returns the command that runs this binary as one of the servers above.
func server(name string) proc.Spec {
	return proc.Spec{Argv: []string{os.Args[0]}, Env: append(os.Environ(), "TEE_SERVER="+name)}
}

// frames collects the recorded frames.
type frames struct{ list []cassette.Frame }

func (f *frames) record(x cassette.Frame) error {
	f.list = append(f.list, x)
	return nil
}

func (f *frames) data(dir cassette.Direction) (out []string) {
	for _, x := range f.list {
		if x.Dir == dir && x.Data != nil {
			out = append(out, string(x.Data))
		}
	}
	return out
}

func TestStdioPassesBytesUnchanged(t *testing.T) {
	t.Parallel()
	input := make([]byte, 3<<20)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(input)
	input = append(input, "\r\n\n{}\npartial"...)
	var got, stderr bytes.Buffer
	var seen frames
	tap := tee.NewTap(seen.record)
	st, err := tee.Stdio{Server: server("echo"), In: bytes.NewReader(input), Out: &got, Err: &stderr, Tap: tap}.Run(t.Context())
	if err != nil || !st.Exit.Success() {
		t.Fatal(st.Exit, err)
	}
	if lost, err := tap.Close(); lost > 0 || err != nil {
		t.Fatal(lost, err)
	}
	if !bytes.Equal(got.Bytes(), input) {
		t.Fatalf("%d bytes were sent and %d others received", len(input), got.Len())
	}
	for _, dir := range []cassette.Direction{cassette.ToServer, cassette.FromServer} {
		if all := strings.Join(seen.data(dir), "\n"); all != string(input) {
			t.Errorf("%s: the frames have %d bytes, %d passed", dir, len(all), len(input))
		}
	}
}

func TestStdioPassesExitCodeAndPartialOutput(t *testing.T) {
	t.Parallel()
	in, w := io.Pipe() // a client that sends nothing and does not close its end
	defer w.Close()
	var got, stderr bytes.Buffer
	var seen frames
	tap := tee.NewTap(seen.record)
	st, err := tee.Stdio{Server: server("exit"), In: in, Out: &got, Err: &stderr, Tap: tap}.Run(t.Context())
	testkit.Equal(t, "the error", err, nil)
	testkit.Equal(t, "the exit code", st.Exit.Code, 7)
	if _, err := tap.Close(); err != nil {
		t.Fatal(err)
	}
	testkit.Equal(t, "stdout and stderr", []string{got.String(), stderr.String()}, []string{"partial", "no line end"})
	last := seen.list[len(seen.list)-1]
	if last.End == nil || last.End.Exit == nil {
		t.Fatalf("the last frame is %+v", last)
	}
	testkit.Equal(t, "the recorded exit code", last.End.Exit.Code, 7)
	testkit.Equal(t, "whether the client ended the session", last.End.Client, false)
}

// readyWriter closes ready at the first write.
type readyWriter struct{ ready chan struct{} }

func (w readyWriter) Write(p []byte) (int, error) {
	close(w.ready)
	return len(p), nil
}

func TestStdioPassesSignals(t *testing.T) {
	t.Parallel()
	in, w := io.Pipe()
	defer w.Close()
	signals := make(chan os.Signal, 1)
	out := readyWriter{make(chan struct{})}
	go func() {
		<-out.ready
		signals <- syscall.SIGTERM // not SIGHUP, which nohup makes the server ignore
	}()
	tap := tee.NewTap((&frames{}).record)
	st, err := tee.Stdio{Server: server("hang"), In: in, Out: out, Err: io.Discard, Signals: signals, Tap: tap}.Run(t.Context())
	testkit.Equal(t, "the error", err, nil)
	testkit.Equal(t, "the signal", st.Exit.Signal, "terminated")
	testkit.Equal(t, "how the server was stopped", st.How, proc.ByItself)
}

// closedWriter is a client that has stopped reading.
type closedWriter struct{}

func (closedWriter) Write([]byte) (int, error) { return 0, syscall.EPIPE }

func TestStdioStopsServerThatItsClientLeft(t *testing.T) {
	t.Parallel()
	in, w := io.Pipe()
	defer w.Close()
	tap := tee.NewTap((&frames{}).record)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	st, err := tee.Stdio{Server: server("hang"), In: in, Out: closedWriter{}, Err: io.Discard, Tap: tap}.Run(ctx)
	testkit.Equal(t, "the error", err, nil)
	testkit.Equal(t, "the end of the test's time", ctx.Err(), nil)
	testkit.Equal(t, "whether the server ended without a signal", st.Exit.Signal == "", false)
}

// A server that ignores the end of its input is stopped, but not before it has responded.
func TestStdioEndsServerThatIgnoresTheEndOfItsInput(t *testing.T) {
	t.Parallel()
	const slow = `{"jsonrpc":"2.0","id":1,"method":"slow"}` + "\n"
	patience := map[string]time.Duration{"no answer": 10 * time.Millisecond}
	grace := map[proc.How]time.Duration{proc.ByTerm: 30 * time.Second, proc.ByKill: 300 * time.Millisecond}
	for name, c := range map[string]struct {
		server, input, want string
		how                 proc.How
	}{
		"no request":     {"deaf", "", "", proc.ByTerm},
		"notification":   {"deaf", `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n", "", proc.ByTerm},
		"slow answer":    {"deaf", slow, `"id":1`, proc.ByTerm},
		"batch":          {"deaf", `[{"jsonrpc":"2.0","method":"x"},` + strings.TrimSpace(slow) + "]\n", `"id":1`, proc.ByTerm},
		"cancelled":      {"deaf", slow + `{"jsonrpc":"2.0","id":2,"method":"x"}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}` + "\n", `"id":1`, proc.ByTerm},
		"subscription":   {"deaf", `{"jsonrpc":"2.0","id":2,"method":"subscriptions/listen"}` + "\n", "", proc.ByTerm},
		"no answer":      {"deaf", `{"jsonrpc":"2.0","id":2,"method":"x"}` + "\n", "", proc.ByTerm},
		"closed output":  {"closed", slow, "", proc.ByTerm},
		"ignored signal": {"stubborn", slow, `"id":1`, proc.ByKill},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got bytes.Buffer
			tap := tee.NewTap((&frames{}).record)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			st, err := tee.Stdio{
				Server: server(c.server), In: strings.NewReader(c.input), Out: &got, Err: io.Discard, Tap: tap,
				Grace:    proc.Grace{Stdin: 10 * time.Millisecond, Term: grace[c.how]},
				Patience: patience[name],
			}.Run(ctx)
			_, broken := tap.Close()
			testkit.Equal(t, "the errors", []error{err, broken}, []error{nil, nil})
			testkit.Equal(t, "how the server was stopped", st.How, c.how)
			if !strings.Contains(got.String(), c.want) {
				t.Errorf("got %q, want %q in it", got.String(), c.want)
			}
		})
	}
}

func TestRecorderThatFailsOrIsSlowDoesNotDelay(t *testing.T) {
	t.Parallel()
	for name, record := range map[string]func(release chan struct{}) func(cassette.Frame) error{
		"fails": func(chan struct{}) func(cassette.Frame) error {
			return func(cassette.Frame) error { return io.ErrShortWrite }
		},
		"is slow": func(release chan struct{}) func(cassette.Frame) error {
			return func(cassette.Frame) error {
				<-release
				return nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			release := make(chan struct{})
			tap := tee.NewTap(record(release))
			tap.SetLimit(1 << 10)
			input := strings.Repeat("0123456789\n", 100_000)
			var got bytes.Buffer
			st, err := tee.Stdio{Server: server("echo"), In: strings.NewReader(input), Out: &got, Err: io.Discard, Tap: tap}.Run(t.Context())
			testkit.Equal(t, "the error", err, nil)
			testkit.Equal(t, "whether the server ended well", st.Exit.Success(), true)
			testkit.Equal(t, "what passed", got.String(), input)
			close(release)
			if lost, _ := tap.Close(); lost == 0 {
				t.Error("nothing was lost")
			}
		})
	}
}

// lines is a client that sends n requests, each a line.
func lines(w io.Writer, n int) {
	b := bufio.NewWriterSize(w, 64<<10)
	for i := range n {
		fmt.Fprintf(b, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"n":%d,"text":"a frame of ordinary size"}}}`+"\n", i, i)
	}
	b.Flush()
}

// checker compares its input with the output of lines.
type checker struct {
	want *bufio.Reader
	n    int64
	bad  int64
	buf  []byte
}

func (c *checker) Write(p []byte) (int, error) {
	c.buf = append(c.buf[:0], p...)
	if _, err := io.ReadFull(c.want, c.buf); err != nil || !bytes.Equal(c.buf, p) {
		atomic.StoreInt64(&c.bad, c.n+1)
	}
	c.n += int64(len(p))
	return len(p), nil
}

// TestMillionFrames sends frames through the proxy into a cassette: 10^6 in the long form
// of the test.
func TestMillionFrames(t *testing.T) {
	n := testkit.Count(20_000, 1_000_000)
	in, w := io.Pipe()
	expected, ew := io.Pipe()
	go func() { lines(w, n); w.Close() }()
	go func() { lines(ew, n); ew.Close() }()
	file := filepath.Join(t.TempDir(), "million"+cassette.Suffix)
	out, err := cassette.Create(file, cassette.Header{Transport: cassette.Stdio}, secret.NewRedactor())
	if err != nil {
		t.Fatal(err)
	}
	out.Session()
	tap := tee.NewTap(out.Write)
	check := &checker{want: bufio.NewReaderSize(expected, 64<<10)}
	began := time.Now()
	st, err := tee.Stdio{Server: server("echo"), In: in, Out: check, Err: io.Discard, Tap: tap}.Run(t.Context())
	took := time.Since(began)
	if err != nil || !st.Exit.Success() {
		t.Fatal(st.Exit, err)
	}
	if _, err := check.want.ReadByte(); err != io.EOF || check.bad > 0 {
		t.Fatalf("the bytes differ after %d", check.bad)
	}
	lost, err := tap.Close()
	if lost > 0 || err != nil || out.Close() != nil {
		t.Fatal(lost, err)
	}
	t.Logf("%d frames each way in %v: %v a frame; recorded after %v", n, took, took/time.Duration(n), time.Since(began))
	c, err := cassette.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if len(c.Frames) != 2*n+1 { // and the end
		t.Errorf("%d frames were recorded", len(c.Frames))
	}
	if testkit.Deep() && took > time.Duration(n)*50*time.Microsecond { // not under the race detector or next to other tests
		t.Errorf("a frame took %v", took/time.Duration(n))
	}
}

// BenchmarkRoundTrip measures one request and response through the proxy, and
// without it.
func BenchmarkRoundTrip(b *testing.B) {
	frame := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a frame of ordinary size"}}}` + "\n")
	trip := func(b *testing.B, w io.Writer, r *bufio.Reader) {
		b.Helper()
		for b.Loop() {
			if _, err := w.Write(frame); err != nil {
				b.Fatal(err)
			}
			if got, err := r.ReadSlice('\n'); err != nil || !bytes.Equal(got, frame) {
				b.Fatal(err)
			}
		}
	}
	b.Run("direct", func(b *testing.B) {
		spec := server("echo")
		spec.PipeStdin, spec.PipeStdout = true, true
		p, err := proc.Start(b.Context(), spec)
		if err != nil {
			b.Fatal(err)
		}
		trip(b, p.Stdin(), bufio.NewReader(p.Stdout()))
		p.Stop(b.Context(), proc.Grace{})
	})
	b.Run("recorded", func(b *testing.B) {
		out, err := cassette.Create(filepath.Join(b.TempDir(), "b"+cassette.Suffix), cassette.Header{Transport: cassette.Stdio}, secret.NewRedactor())
		if err != nil {
			b.Fatal(err)
		}
		defer out.Close()
		out.Session()
		tap := tee.NewTap(out.Write)
		inR, inW, _ := os.Pipe()
		outR, outW, _ := os.Pipe()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = tee.Stdio{Server: server("echo"), In: inR, Out: outW, Err: io.Discard, Tap: tap}.Run(context.Background())
		}()
		trip(b, inW, bufio.NewReader(outR))
		inW.Close()
		<-ended
		_, _ = tap.Close()
	})
}
