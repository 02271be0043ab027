//go:build linux

package proc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"mcptest/internal/base/testkit"
	"mcptest/internal/process/probe"
	"mcptest/internal/process/proc"
	"mcptest/internal/process/tail"
)

func TestParseProbe(t *testing.T) {
	good := map[string]probe.Kind{
		"tcp://localhost:80":         probe.TCP,
		"tcp://[::1]:8080":           probe.TCP,
		"http://localhost:80/health": probe.HTTP,
		"https://example.com":        probe.HTTP,
		"/healthz?full=1":            probe.Path,
		"/":                          probe.Path,
		"log:/ready to (accept|go)/": probe.Log,
		`log:/a\/b/`:                 probe.Log,
	}
	for in, kind := range good {
		p, err := probe.Parse(in)
		if err != nil || p.Kind() != kind || p.String() != in {
			t.Errorf("%q: %v %v", in, p.Kind(), err)
		}
		if want := kind == probe.TCP || kind == probe.HTTP; p.Absolute() != want {
			t.Errorf("%q: absolute %v", in, p.Absolute())
		}
	}
	bad := map[string]string{
		"":                 "not a probe",
		"localhost:80":     "not a probe",
		"ftp://x":          "not a probe",
		"tcp://localhost":  "not tcp://host:port",
		"tcp://:80":        "not tcp://host:port",
		"tcp://h:0":        "not a port",
		"tcp://h:http":     "not a port",
		"tcp://h:70000":    "not a port",
		"tcp://h:80/x":     "not a port",
		"http://":          "not a URL",
		"http://%zz/":      "not a URL",
		"//host/path":      "not a path",
		"log:ready":        "log:/regex/",
		"log://":           "log:/regex/",
		"log:/(/":          "regular expression",
		"log:/(?=x)/":      "regular expression",
		"HTTP://localhost": "not a probe",
	}
	for in, want := range bad {
		_, err := probe.Parse(in)
		var pe *probe.Error
		if !errors.As(err, &pe) || !strings.Contains(pe.Msg, want) || pe.Hint == "" {
			t.Errorf("%q: got %v, want %q", in, err, want)
		}
	}
}

func parse(t *testing.T, s string) probe.Probe {
	t.Helper()
	p, err := probe.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func soon(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(bg, d)
	t.Cleanup(cancel)
	return ctx
}

func TestProbeTCP(t *testing.T) {
	addr := fmt.Sprintf("127.0.0.1:%d", testkit.FindFreePort())
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	p := parse(t, "tcp://"+addr)
	if err := p.Check(bg); err != nil {
		t.Error(err)
	}
	l.Close()
	if p.Check(bg) == nil {
		t.Error("ready without a listener")
	}
	err = p.Wait(soon(t, time.Second), probe.Watch{})
	var nr *probe.NotReadyError
	if !errors.As(err, &nr) || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "refused") {
		t.Errorf("got %v", err)
	}
	late := listenLater(addr, 50*time.Millisecond)
	if err := p.Wait(soon(t, time.Minute), probe.Watch{}); err != nil {
		t.Error(err)
	}
	if l := <-late; l != nil {
		l.Close()
	}
}

func TestProbeHTTP(t *testing.T) {
	hits := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var code int
		if _, err := fmt.Sscanf(r.URL.Path, "/status/%d", &code); err == nil {
			if code/100 == 3 {
				w.Header().Set("Location", "http://127.0.0.1:1/elsewhere")
			}
			w.WriteHeader(code)
			return
		}
		if hits++; hits < 4 {
			http.Error(w, "not yet", http.StatusServiceUnavailable)
		}
	}))
	defer srv.Close()
	for code, ready := range map[int]bool{200: true, 204: true, 302: true, 399: true, 400: false, 404: false, 503: false} {
		err := parse(t, fmt.Sprintf("%s/status/%d", srv.URL, code)).Check(bg)
		if (err == nil) != ready {
			t.Errorf("%d: %v", code, err)
		}
		if err != nil && !strings.Contains(err.Error(), fmt.Sprint(code)) {
			t.Errorf("the message hides the status: %v", err)
		}
	}
	p, err := parse(t, "/up").At(srv.URL + "/mcp?x=1")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(soon(t, time.Minute), probe.Watch{}); err != nil || hits != 4 {
		t.Errorf("%v after %d looks", err, hits)
	}
	if _, err := parse(t, "/up").At("npx server"); err == nil {
		t.Error("a command is no origin")
	}
	if err := parse(t, "/up").Wait(bg, probe.Watch{}); err == nil {
		t.Error("a path without an origin")
	}
}

// A server that accepts the connection and sends nothing must not delay the end of
// ctx.
func TestProbeSilentServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	within(t, func() {
		err = parse(t, "http://"+l.Addr().String()).Wait(soon(t, 100*time.Millisecond), probe.Watch{})
	})
	if err == nil {
		t.Error("ready?")
	}
}

// The status decides: a response with an endless body counts.
func TestProbeReadsNoBody(t *testing.T) {
	over := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		select {
		case <-r.Context().Done():
		case <-over:
		}
	}))
	defer srv.Close()
	defer close(over)
	within(t, func() {
		if err := parse(t, srv.URL).Check(soon(t, time.Minute)); err != nil {
			t.Error(err)
		}
	})
}

// listenLater starts to listen at an address after the first probes failed.
func listenLater(addr string, after time.Duration) <-chan net.Listener {
	opened := make(chan net.Listener, 1)
	time.AfterFunc(after, func() {
		l, _ := net.Listen("tcp", addr)
		opened <- l
	})
	return opened
}

// The reported reason is the last one: a port that first refused connections, and
// then accepted one without responding.
func TestProbeTellsTheLatestReason(t *testing.T) {
	t.Parallel()
	addr := fmt.Sprintf("127.0.0.1:%d", testkit.FindFreePort())
	opened := listenLater(addr, 100*time.Millisecond)
	ctx, cancel := context.WithTimeoutCause(bg, 5*time.Second, errors.New("some limit"))
	defer cancel()
	err := parse(t, "http://"+addr+"/health").Wait(ctx, probe.Watch{})
	l := <-opened
	if l == nil {
		t.Skip("the port was taken meanwhile")
	}
	defer l.Close()
	if err == nil || !strings.Contains(err.Error(), "accepts connections, but does not respond") {
		t.Errorf("got %v", err)
	}
}

// A check that the limit interrupts is no reason to forget the response before it.
func TestProbeTellsTheResponse(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(bg)
	defer cancel(nil)
	var requests atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) == 1 {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		cancel(errors.New("some limit"))
		<-r.Context().Done()
	}))
	defer srv.Close()
	err := parse(t, srv.URL+"/health").Wait(ctx, probe.Watch{})
	if err == nil || !strings.Contains(err.Error(), "HTTP 404") {
		t.Errorf("got %v", err)
	}
}

func TestProbeWith(t *testing.T) {
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Key") != "k" {
			w.WriteHeader(http.StatusForbidden)
		}
	}))
	defer srv.Close()
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	p := parse(t, srv.URL)
	if err := p.Check(bg); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("got %v", err)
	}
	trust := srv.Client().Transport.(*http.Transport).TLSClientConfig
	if err := p.With(trust, nil).Check(bg); err == nil || !strings.Contains(err.Error(), "403") {
		t.Errorf("got %v", err)
	}
	if err := p.With(trust, http.Header{"X-Key": {"k"}}).Check(bg); err != nil {
		t.Error(err)
	}
}

// A probe does not wait for a program that has ended.
func TestProbeLogThatHasEnded(t *testing.T) {
	over := &probe.NoMatchError{}
	r := proc.Run(bg, proc.Spec{Argv: argv("exit", "0")})
	within(t, func() {
		err := parse(t, "log:/ready/").Wait(soon(t, time.Minute), probe.Watch{Logs: []*tail.Tail{r.Stdout, r.Stderr}})
		if !errors.As(err, &over) {
			t.Errorf("got %v", err)
		}
	})
	mute := start(t, proc.Spec{Argv: []string{"/bin/sh", "-c", "exec >&- 2>&-; exec sleep 30"}})
	within(t, func() {
		err := parse(t, "log:/ready/").Wait(soon(t, time.Minute), probe.Watch{Process: mute})
		if !errors.As(err, &over) {
			t.Errorf("got %v", err)
		}
	})
}

func TestProbeEndsWithTheProcess(t *testing.T) {
	for _, s := range []string{"tcp://127.0.0.1:1", "http://127.0.0.1:1/", "log:/never/"} {
		p := start(t, proc.Spec{Name: "db", Argv: argv("exit", "4")})
		var err error
		within(t, func() { err = parse(t, s).Wait(soon(t, time.Minute), probe.Watch{Process: p}) })
		var died *probe.DiedError
		if !errors.As(err, &died) || died.Exit.Code != 4 || !strings.Contains(err.Error(), "db ended (exit status 4) before "+s) || !strings.HasSuffix(err.Error(), "out\nerr") {
			t.Errorf("%s: got %v", s, err)
		}
	}
	// a check that hangs also ends with the process
	l, _ := net.Listen("tcp", "127.0.0.1:0")
	defer l.Close()
	p := start(t, proc.Spec{Argv: argv("exit", "4")})
	within(t, func() {
		if err := parse(t, "http://"+l.Addr().String()).Wait(bg, probe.Watch{Process: p}); err == nil {
			t.Error("ready?")
		}
	})
}

func TestProbeLog(t *testing.T) {
	p := start(t, proc.Spec{Argv: argv("ticker")})
	if err := parse(t, "log:/^tick 3$/").Wait(soon(t, time.Minute), probe.Watch{Process: p}); err != nil {
		t.Fatal(err)
	}
	if err := parse(t, "log:/^tick 0$/").Check(bg, p.Output()); err != nil {
		t.Error(err)
	}
	// the match passed while the program ended
	q := start(t, proc.Spec{Argv: argv("exit", "0")})
	if err := parse(t, "log:/^err$/").Wait(soon(t, time.Minute), probe.Watch{Process: q}); err != nil {
		t.Error(err)
	}
	if err := parse(t, "log:/x/").Wait(bg, probe.Watch{}); err == nil {
		t.Error("no log, no response")
	}
	var nr *probe.NotReadyError
	if err := parse(t, "log:/never/").Wait(soon(t, 50*time.Millisecond), probe.Watch{Process: p}); !errors.As(err, &nr) {
		t.Errorf("got %v", err)
	}
}

// A line that arrives between two checks and is dropped immediately is still noticed;
// so is a prompt without a line end.
func TestProbeLogInAFlood(t *testing.T) {
	for _, text := range []string{"now ready\n", "now ready"} {
		synctest.Test(t, func(t *testing.T) {
			kept := tail.New(128)
			done := make(chan error, 1)
			go func() {
				done <- parse(t, "log:/now ready/").Wait(soon(t, time.Minute), probe.Watch{Logs: []*tail.Tail{kept}})
			}()
			synctest.Wait()
			noise := strings.Repeat("noise\n", 1000)
			kept.Write([]byte(noise + "now rea"))
			kept.Write([]byte(strings.TrimPrefix(text, "now rea")))
			if strings.HasSuffix(text, "\n") {
				kept.Write([]byte(noise))
			}
			if err := <-done; err != nil {
				t.Errorf("%q: %v", text, err)
			}
		})
	}
	long := tail.New(0)
	long.Write([]byte(strings.Repeat("x", 200_000) + "ready\n"))
	if err := parse(t, "log:/x+ready$/").Check(bg, long); err != nil {
		t.Error(err)
	}
}
