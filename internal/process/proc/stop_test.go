//go:build linux

package proc_test

import (
	"context"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"mcptest/internal/process/proc"

	"github.com/google/go-cmp/cmp"
	"mcptest/internal/base/testkit"
)

var bg = context.Background()

// short graces keep the tests of stubborn programs quick, long ones keep the
// tests of the others right on a busy machine; the defaults are tested once.
var short = proc.Grace{Stdin: 150 * time.Millisecond, Term: 150 * time.Millisecond}

const long = time.Minute

func TestStopWays(t *testing.T) {
	tests := []struct {
		name, helper string
		pipe         bool
		grace        proc.Grace
		want         proc.How
		exit         string
	}{
		{"hears end of input", "eof", true, proc.Grace{Stdin: long}, proc.ByEOF, "exit status 0"},
		{"hears SIGTERM", "sleep", true, proc.Grace{Stdin: 50 * time.Millisecond, Term: long}, proc.ByTerm, "signal: terminated"},
		{"without a pipe SIGTERM comes at once", "sleep", false, proc.Grace{Stdin: time.Minute, Term: long}, proc.ByTerm, "signal: terminated"},
		{"hears nothing", "stubborn", true, short, proc.ByKill, "signal: killed"},
		{"hears nothing, no grace", "stubborn", true, proc.Grace{Stdin: -1, Term: -1}, proc.ByKill, "signal: killed"},
		{"closed all pipes", "closed", true, proc.Grace{Stdin: 50 * time.Millisecond, Term: long}, proc.ByTerm, "signal: terminated"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := start(t, proc.Spec{Argv: argv(tt.helper), PipeStdin: tt.pipe})
			if tt.helper == "sleep" || tt.helper == "stubborn" {
				ready(t, p)
			}
			var st proc.Stopped
			within(t, func() { st = p.Stop(bg, tt.grace) })
			if st.How != tt.want || st.Exit.String() != tt.exit || st.Forced != (tt.want == proc.ByKill) || len(st.Leftovers) > 0 {
				t.Errorf("got %+v", st)
			}
			if again := p.Stop(bg, short); !cmp.Equal(again, st) {
				t.Errorf("second stop: %s", cmp.Diff(st, again))
			}
			if alive(p.Pid()) {
				t.Error("still there")
			}
		})
	}
}

func TestStopAfterEnd(t *testing.T) {
	p := start(t, proc.Spec{Argv: argv("exit", "3")})
	<-p.Done()
	st := p.Stop(bg, short)
	if st.How != proc.ByItself || st.Exit.Code != 3 || st.Exit.String() != "exit status 3" || st.Exit.Success() {
		t.Errorf("got %+v", st)
	}
	if got := p.Output().String() + p.Stderr().String(); got != "out\nerr\n" {
		t.Errorf("output %q", got)
	}
}

func TestStopContextCutsShort(t *testing.T) {
	p := start(t, proc.Spec{Argv: argv("stubborn"), PipeStdin: true})
	ready(t, p)
	ctx, cancel := context.WithTimeout(bg, 50*time.Millisecond)
	defer cancel()
	within(t, func() {
		if st := p.Stop(ctx, proc.Grace{Stdin: long, Term: long}); !st.Forced {
			t.Errorf("got %+v", st)
		}
	})
}

func TestStopDefaultGrace(t *testing.T) {
	t.Parallel()
	p := start(t, proc.Spec{Argv: argv("stubborn"), PipeStdin: true})
	ready(t, p)
	begin := time.Now()
	p.Stop(bg, proc.Grace{})
	if took := time.Since(begin); took < 4*time.Second || took > time.Minute {
		t.Errorf("took %s, want 4 s", took)
	}
}

func TestStopNamesLeftovers(t *testing.T) {
	for _, child := range []string{"stubborn", "sleep"} {
		t.Run(child, func(t *testing.T) {
			p := start(t, proc.Spec{Name: "server", Argv: argv("parent", child), PipeStdin: true})
			testkit.Wait(t, "child is ready", func() bool {
				out := p.Output().String()
				return strings.Contains(out, "child ") && strings.Contains(out, "ready")
			})
			pid := pidIn(t, p.Output().String(), "child")
			var st proc.Stopped
			within(t, func() { st = p.Stop(bg, proc.Grace{Stdin: long}) })
			if len(st.Leftovers) != 1 || st.Leftovers[0].Pid != pid || !strings.HasSuffix(st.Leftovers[0].Command, "helper "+child) {
				t.Errorf("leftovers %+v, want pid %d", st.Leftovers, pid)
			}
			if alive(pid) {
				t.Error("the grandchild lives")
			}
			if st.How != proc.ByEOF {
				t.Errorf("how: %s", st.How)
			}
		})
	}
}

// A grandchild that holds the pipes must not delay Done by more than WaitDelay.
func TestDoneWithHeldPipes(t *testing.T) {
	p := start(t, proc.Spec{Argv: argv("child"), PipeStdout: true})
	out := make(chan string)
	go func() {
		b, err := io.ReadAll(p.Stdout())
		if err != nil {
			t.Error(err)
		}
		out <- string(b)
	}()
	<-p.Exited()
	within(t, func() { <-p.Done() })
	pid := pidIn(t, <-out, "child")
	if !alive(pid) {
		t.Fatal("the grandchild should live until the stop")
	}
	if st := p.Stop(bg, short); len(st.Leftovers) != 1 || alive(pid) {
		t.Errorf("got %+v", st)
	}
}

// The complete output of a process can be read long after it ended.
func TestWireKeepsWhatWasWritten(t *testing.T) {
	big := strings.Repeat("x", 40_000)
	p := start(t, proc.Spec{Argv: argv("args", big), PipeStdout: true})
	<-p.Done()
	if n := p.OutputWaiting(); runtime.GOOS == "linux" && n != len(big)+5 {
		t.Errorf("%d bytes waiting", n)
	}
	b, err := io.ReadAll(p.Stdout())
	if err != nil || string(b) != `["`+big+`"]`+"\n" {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if n, err := p.Stdout().Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("after the end: %d, %v", n, err)
	}
}

func TestPipesBothWays(t *testing.T) {
	p := start(t, proc.Spec{Argv: argv("cat"), PipeStdin: true, PipeStdout: true})
	buf := make([]byte, 6)
	for _, msg := range []string{"hello\n", "world\n"} {
		if _, err := io.WriteString(p.Stdin(), msg); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(p.Stdout(), buf); err != nil || string(buf) != msg {
			t.Fatalf("%q, %v", buf, err)
		}
	}
	if st := p.Stop(bg, proc.Grace{Stdin: long}); st.How != proc.ByEOF {
		t.Errorf("got %+v", st)
	}
	if _, err := p.Stdin().Write([]byte("x")); err == nil {
		t.Error("a write after the end should fail")
	}
}

// A program that never reads must not block a writer forever.
func TestBlockedWriteEndsWithTheProcess(t *testing.T) {
	p := start(t, proc.Spec{Argv: argv("sleep"), PipeStdin: true})
	ready(t, p)
	done := make(chan error)
	go func() {
		_, err := p.Stdin().Write(make([]byte, 1<<20))
		done <- err
	}()
	time.Sleep(30 * time.Millisecond)
	p.Kill()
	select {
	case err := <-done:
		if err == nil {
			t.Error("want an error")
		}
	case <-time.After(time.Minute):
		t.Fatal("the write hangs")
	}
}

func TestContextKillsTheGroup(t *testing.T) {
	ctx, cancel := context.WithCancel(bg)
	p, err := proc.Start(ctx, proc.Spec{Argv: argv("parent", "stubborn"), PipeStdin: true})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stop(bg, short)
	testkit.Wait(t, "child", func() bool { return strings.Contains(p.Output().String(), "child ") })
	pid := pidIn(t, p.Output().String(), "child")
	cancel()
	<-p.Done()
	if p.Exit().Signal != "killed" {
		t.Errorf("exit %s", p.Exit())
	}
	testkit.Wait(t, "grandchild gone", func() bool { return !alive(pid) })
}

func TestLogFileOutlivesThePipes(t *testing.T) {
	log := t.TempDir() + "/out.log"
	os.WriteFile(log, []byte("old\n"), 0o600)
	p := start(t, proc.Spec{Argv: argv("exit", "0"), LogFile: log})
	<-p.Done()
	if got := p.Output().String(); got != "out\nerr\n" {
		t.Errorf("followed %q", got)
	}
	if b, _ := os.ReadFile(log); string(b) != "old\nout\nerr\n" {
		t.Errorf("file %q", b)
	}
	if p.Ref().LogFile != log || p.Stderr() != p.Output() {
		t.Error("the Ref names no log file, or there are two tails")
	}
}

func TestLineCallback(t *testing.T) {
	var lines []string
	p := start(t, proc.Spec{Argv: argv("exit", "0"), OnStderr: func(l string) { lines = append(lines, l) }})
	<-p.Done()
	if !slices.Equal(lines, []string{"err"}) {
		t.Errorf("got %q", lines)
	}
}

func TestExitBeforeTheEnd(t *testing.T) {
	p := start(t, proc.Spec{Argv: argv("sleep")})
	if e := p.Exit(); e.Err == nil || e.Success() {
		t.Errorf("got %+v", e)
	}
}
