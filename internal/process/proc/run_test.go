//go:build linux

package proc_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"mcptest/internal/base/testkit"
	"mcptest/internal/process/proc"
)

func TestRun(t *testing.T) {
	r := proc.Run(bg, proc.Spec{Argv: argv("exit", "0")})
	if r.Err() != nil || r.Stdout.String() != "out\n" || r.Stderr.String() != "err\n" || r.Duration <= 0 {
		t.Errorf("got %+v, %v", r, r.Err())
	}
	r = proc.Run(bg, proc.Spec{Name: "prepare", Argv: argv("exit", "7")})
	if err := r.Err(); err == nil || err.Error() != "prepare: exit status 7" {
		t.Errorf("got %v", err)
	}
}

func TestRunInput(t *testing.T) {
	in := strings.Repeat("0123456789", 50_000)
	r := proc.Run(bg, proc.Spec{Argv: argv("cat"), Stdin: strings.NewReader(in)})
	if r.Err() != nil || r.Stdout.String() != in {
		t.Errorf("%d bytes of %d, %v", r.Stdout.Total(), len(in), r.Err())
	}
	// a program that does not read its input
	within(t, func() {
		r = proc.Run(bg, proc.Spec{Argv: argv("exit", "0"), Stdin: strings.NewReader(in)})
	})
	if r.Err() != nil {
		t.Error(r.Err())
	}
	// nil means an empty input
	if r = proc.Run(bg, proc.Spec{Argv: argv("cat")}); r.Err() != nil || r.Stdout.Total() != 0 {
		t.Errorf("got %q, %v", r.Stdout, r.Err())
	}
}

func TestRunArguments(t *testing.T) {
	want := []string{"", "a b", "$HOME", "*", "'\"\\", "ünï", "\n"}
	r := proc.Run(bg, proc.Spec{Argv: argv(append([]string{"args"}, want...)...)})
	var got []string
	if err := json.Unmarshal(r.Stdout.Bytes(), &got); err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestRunEnvironment(t *testing.T) {
	dir := t.TempDir()
	real, _ := filepath.EvalSymlinks(dir)
	r := proc.Run(bg, proc.Spec{Argv: argv("env"), Dir: real, Env: []string{"A=1", "A=2", "B=x=y", "PWD=/nowhere"}})
	got := r.Stdout.Lines(10)
	slices.Sort(got)
	if want := []string{"A=2", "B=x=y", "PWD=" + real}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRunTimeout(t *testing.T) {
	tests := map[string]struct {
		args   []string
		forced bool
	}{
		"hears SIGTERM":  {[]string{"sleep"}, false},
		"hears nothing":  {[]string{"stubborn", "ready"}, true},
		"closed pipes":   {[]string{"closed"}, false},
		"endless output": {[]string{"ticker"}, false},
		"with a child":   {[]string{"waiter", "stubborn"}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			cause := errors.New("timed out after 200ms")
			ctx, cancel := context.WithCancelCause(bg)
			defer cancel(nil)
			spec := proc.Spec{Argv: argv(tt.args...), OnStderr: func(string) { cancel(cause) }} // when it ignores SIGTERM
			if !tt.forced {
				time.AfterFunc(200*time.Millisecond, func() { cancel(cause) })
			}
			var r proc.Result
			within(t, func() { r = proc.Run(ctx, spec) })
			if !errors.Is(r.Err(), cause) || r.Forced != tt.forced {
				t.Errorf("got %v, forced %v", r.Err(), r.Forced)
			}
		})
	}
}

func TestRunDaemonHoldingPipes(t *testing.T) {
	var r proc.Result
	within(t, func() { r = proc.Run(bg, proc.Spec{Argv: argv("daemon")}) })
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	pid := pidIn(t, r.Stdout.String(), "daemon")
	if !alive(pid) {
		t.Error("a daemon that left the session is not in reach without a reaper")
	}
	kill(pid)
}

func TestRunLeftoversAndKeepChildren(t *testing.T) {
	r := proc.Run(bg, proc.Spec{Argv: argv("child")})
	if pid := pidIn(t, r.Stdout.String(), "child"); len(r.Leftovers) != 1 || r.Leftovers[0].Pid != pid || alive(pid) {
		t.Errorf("got %+v", r.Leftovers)
	}
	led := proc.NewRegistry(nil, nil)
	r = proc.Run(bg, proc.Spec{Name: "up", Argv: argv("child", "ticker"), KeepChildren: true, Registry: led})
	pid := pidIn(t, r.Stdout.String(), "child")
	n := r.Stdout.Total()
	testkit.Wait(t, "its output is still read", func() bool { return r.Stdout.Total() > n })
	if !alive(pid) || len(r.Leftovers) != 0 || len(led.Live()) != 1 {
		t.Fatalf("it should live: %+v", r)
	}
	left := led.Close(bg, short)
	if len(left) != 1 || left[0].Pid != pid || left[0].Of != "up" || alive(pid) || len(led.Live()) != 0 {
		t.Errorf("got %+v", left)
	}
	// nothing left: KeepChildren changes nothing
	r = proc.Run(bg, proc.Spec{Argv: argv("exit", "0"), KeepChildren: true, Registry: led})
	if r.Err() != nil || len(led.Live()) != 0 {
		t.Errorf("%v, %v", r.Err(), led.Live())
	}
}

func TestRunFlood(t *testing.T) {
	const size = 256 << 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begin := time.Now()
	r := proc.Run(bg, proc.Spec{Argv: argv("flood", "268435456")})
	took := time.Since(begin)
	runtime.ReadMemStats(&after)
	if r.Err() != nil || r.Stdout.Total() != size+9 || r.Stderr.Total() != size+9 {
		t.Fatalf("%d %d %v", r.Stdout.Total(), r.Stderr.Total(), r.Err())
	}
	if l := r.Stderr.Lines(1); l[0] != "last err" || r.Stderr.Dropped() != size+9-proc.DefaultRunLimit {
		t.Errorf("last %q, dropped %d", l, r.Stderr.Dropped())
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 8<<20 {
		t.Errorf("allocated %d bytes for a flood", grown)
	}
	t.Logf("2 x 256 MiB in %s", took)
}

func TestRunNotStarted(t *testing.T) {
	r := proc.Run(bg, proc.Spec{Argv: []string{"/no/such/program"}})
	var se *proc.StartError
	if !errors.As(r.Err(), &se) || r.Stdout.String() != "" || r.Exit.Success() {
		t.Errorf("got %+v", r)
	}
	ctx, cancel := context.WithCancel(bg)
	cancel()
	if r := proc.Run(ctx, proc.Spec{Argv: argv("exit", "0")}); !errors.Is(r.Err(), context.Canceled) || r.Stdout.Total() != 0 {
		t.Errorf("got %v", r.Err())
	}
}

func TestStartErrors(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	plain := write("plain.sh", "#!/bin/sh\n", 0o644)
	write("bad", "#!/no/such/interpreter -x\n", 0o755)
	write("crlf", "#!/bin/sh\r\necho hi\r\n", 0o755)
	write("text", "just text\n", 0o755)
	write("ok", "#!/bin/sh\nexit 0\n", 0o755)
	path := []string{"PATH=/nowhere:" + dir}
	tests := []struct {
		name       string
		spec       proc.Spec
		want, hint string
	}{
		{"none", proc.Spec{}, `no program is named`, ""},
		{"not in PATH", proc.Spec{Argv: []string{"nosuch"}, Env: path}, `cannot start "nosuch": not found in PATH`, ""},
		{"no PATH", proc.Spec{Argv: []string{"ls"}, Env: []string{"A=1"}}, `no PATH`, "sets no PATH"},
		{"no file", proc.Spec{Argv: []string{"./nosuch"}, Dir: dir}, `there is no file ` + dir + `/nosuch`, ""},
		{"not executable", proc.Spec{Argv: []string{"./plain.sh"}, Dir: dir}, `plain.sh is not executable`, "chmod +x " + plain},
		{"not executable in PATH", proc.Spec{Argv: []string{"plain.sh"}, Env: path}, `plain.sh is not executable`, "chmod +x " + plain},
		{"directory", proc.Spec{Argv: []string{dir}}, `is a directory`, ""},
		{"interpreter", proc.Spec{Argv: []string{"./bad"}, Dir: dir}, `/no/such/interpreter -x`, "first line"},
		{"Windows line endings", proc.Spec{Argv: []string{"./crlf"}, Dir: dir}, `/bin/sh\r: the file has Windows line endings`, "sed -i"},
		{"no script", proc.Spec{Argv: []string{"./text"}, Dir: dir}, `neither a program`, "#!/bin/sh"},
		{"working directory", proc.Spec{Argv: []string{"ls"}, Dir: dir + "/nosuch"}, `its working directory ` + dir + `/nosuch does not exist`, ""},
		{"working file", proc.Spec{Argv: []string{"ls"}, Dir: plain}, `is not a directory`, ""},
		{"of the shell", proc.Spec{Argv: []string{"export", "A=1"}, Env: path}, `not found`, "bash -c 'export …'"},
		{"without ./", proc.Spec{Argv: []string{"ok"}, Dir: dir, Env: []string{"PATH=/nowhere"}}, `not found`, "write ./ok"},
		{"NUL", proc.Spec{Argv: []string{"ls", "a\x00b"}}, `NUL`, ""},
		{"bad entry", proc.Spec{Argv: []string{"ls"}, Env: []string{"PATH=/bin", "oops"}}, `"oops" is not NAME=value`, ""},
		{"log directory", proc.Spec{Argv: argv("exit", "0"), LogFile: dir + "/no/x.log"}, "open the log file", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := proc.Start(bg, tt.spec)
			var se *proc.StartError
			if p != nil || !errors.As(err, &se) {
				t.Fatalf("got %v, %v", p, err)
			}
			if !strings.Contains(se.Error(), tt.want) || !strings.Contains(se.Hint, tt.hint) || tt.hint == "" && se.Hint != "" {
				t.Errorf("got %q, hint %q", se.Error(), se.Hint)
			}
		})
	}
	for _, spec := range []proc.Spec{
		{Argv: []string{"./ok"}, Dir: dir},
		{Argv: []string{"ok"}, Env: path},
		{Argv: []string{"ok"}, Dir: dir, Env: []string{"PATH=."}},
	} {
		if r := proc.Run(bg, spec); r.Err() != nil {
			t.Errorf("%v: %v", spec.Argv, r.Err())
		}
	}
}
