//go:build linux

package proc_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mcptest/internal/base/testkit"
	"mcptest/internal/process/proc"
)

// runner is a program that starts a watchdog and three groups, names all pids
// and waits to be killed.
func runner(a []string) {
	g, err := proc.StartWatchdog(exe(), "helper", "watchdog")
	check(err)
	led := proc.NewRegistry(g, nil)
	one, err := proc.Start(bg, proc.Spec{Argv: argv("stubborn"), Registry: led})
	check(err)
	two, err := proc.Start(bg, proc.Spec{Argv: argv("parent", "stubborn"), PipeStdin: true, Registry: led})
	check(err)
	three, err := proc.Start(bg, proc.Spec{Argv: argv("eof"), PipeStdin: true, Registry: led})
	check(err)
	four, err := proc.Start(bg, proc.Spec{Argv: argv("sleep"), Registry: led, LogFile: os.DevNull})
	check(err)
	three.Stop(bg, short)
	testkit.Poll(time.Minute, func() bool { return strings.Contains(two.Output().String(), "child ") })
	fmt.Println("one", one.Pid())
	fmt.Println("two", two.Pid())
	fmt.Print(two.Output().String())
	fmt.Println("four", four.Pid())
	if len(a) > 0 && a[0] == "daemon" {
		fmt.Print(proc.Run(bg, proc.Spec{Argv: argv("daemon"), Registry: led, KeepChildren: true}).Stdout)
	}
	if len(a) > 0 && a[0] == "apart" {
		p, err := proc.Start(bg, proc.Spec{Argv: argv("apart"), PipeStdin: true, Registry: led})
		check(err)
		testkit.Poll(time.Minute, func() bool { return strings.Contains(p.Output().String(), "\n") })
		fmt.Print(p.Output().String())
		p.Stop(bg, short)
	}
	if len(a) > 0 && a[0] == "release" {
		_, err := four.Release()
		check(err)
	}
	if len(a) > 0 && a[0] == "close" {
		led.Close(bg, short)
		fmt.Println("end")
		return
	}
	fmt.Println("end")
	hang()
}

// startRunner runs the runner helper until it has printed everything.
func startRunner(t *testing.T, mode string) (*exec.Cmd, string) {
	t.Helper()
	cmd := self("runner", mode)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	var text strings.Builder
	sc := bufio.NewScanner(out)
	for sc.Scan() && sc.Text() != "end" {
		text.WriteString(sc.Text() + "\n")
	}
	return cmd, text.String()
}

func TestWatchdogKillsWhenTheRunnerIsKilled(t *testing.T) {
	cmd, out := startRunner(t, "")
	pids := []int{pidIn(t, out, "one"), pidIn(t, out, "two"), pidIn(t, out, "child"), pidIn(t, out, "four")}
	for _, pid := range pids {
		if !alive(pid) {
			t.Fatalf("%d should be alive in\n%s", pid, out)
		}
	}
	cmd.Process.Signal(syscall.SIGKILL)
	begin := time.Now()
	for _, pid := range pids {
		testkit.Wait(t, "the watchdog kills", func() bool { return !alive(pid) })
	}
	t.Logf("all gone %s after the kill", time.Since(begin))
	testkit.Wait(t, "the watchdog ends", func() bool { return len(survivors()) == 0 })
}

// A daemon that left its session is found by its mark, and so is its child.
func TestWatchdogFindsDaemons(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux shows the environment of other processes")
	}
	cmd, out := startRunner(t, "daemon")
	daemon := pidIn(t, out, "daemon")
	if !alive(daemon) {
		t.Fatal("the daemon should be alive")
	}
	cmd.Process.Signal(syscall.SIGKILL)
	testkit.Wait(t, "the watchdog kills", func() bool { return !alive(daemon) })
	testkit.Wait(t, "the watchdog ends", func() bool { return len(survivors()) == 0 })
}

// A child that left its group is found even if that group has ended before.
func TestWatchdogFindsWhoLeftAGroupThatEnded(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux shows the environment of other processes")
	}
	cmd, out := startRunner(t, "apart")
	apart := pidIn(t, out, "apart")
	if !alive(apart) {
		t.Fatal("the child should be alive")
	}
	cmd.Process.Signal(syscall.SIGKILL)
	testkit.Wait(t, "the watchdog kills", func() bool { return !alive(apart) })
	testkit.Wait(t, "the watchdog ends", func() bool { return len(survivors()) == 0 })
}

func TestWatchdogForgetsWhatWasReleased(t *testing.T) {
	cmd, out := startRunner(t, "release")
	cmd.Process.Signal(syscall.SIGKILL)
	one, four := pidIn(t, out, "one"), pidIn(t, out, "four")
	testkit.Wait(t, "the watchdog kills", func() bool { return !alive(one) })
	testkit.Wait(t, "the watchdog ends", func() bool { return len(survivors()) == 1 })
	if !alive(four) {
		t.Error("the released group was killed")
	}
	kill(four)
	testkit.Wait(t, "clean up", func() bool { return !alive(four) })
}

func TestRegistryCloseEndsEverything(t *testing.T) {
	cmd, out := startRunner(t, "close")
	cmd.Wait()
	for _, n := range []string{"one", "two", "child", "four"} {
		if alive(pidIn(t, out, n)) {
			t.Errorf("%s lives", n)
		}
	}
	testkit.Wait(t, "the watchdog ends", func() bool { return len(survivors()) == 0 })
}

func TestWatchdogClose(t *testing.T) {
	g, err := proc.StartWatchdog(exe(), "helper", "watchdog")
	if err != nil {
		t.Fatal(err)
	}
	p := start(t, proc.Spec{Argv: argv("sleep")})
	g.Add(p.Ref())
	within(t, func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	if !alive(p.Pid()) {
		t.Error("killed in spite of the goodbye")
	}
}

// A watchdog must not kill a process that reuses the id of one that ended.
func TestWatchdogMainChecksStartTimes(t *testing.T) {
	a, b := start(t, proc.Spec{Argv: argv("sleep")}), start(t, proc.Spec{Argv: argv("sleep")})
	ready(t, a)
	ready(t, b)
	in := fmt.Sprintf("add %d another-boot/1\nadd %d %s\nadd 1 \nadd x y\nnonsense\n\nadd -5 q\n", a.Pid(), b.Pid(), b.Ref().Start)
	cmd := self("watchdog")
	cmd.Stdin = strings.NewReader(in)
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	<-b.Done()
	if !alive(a.Pid()) {
		t.Error("killed a process with another start time")
	}
}

func TestNilWatchdogAndReaper(t *testing.T) {
	var g *proc.Watchdog
	g.Add(proc.Ref{})
	g.Remove(proc.Ref{})
	if g.Err() != nil || g.Close() != nil {
		t.Error("a nil watchdog should do nothing")
	}
	var r *proc.Reaper
	if r.Sweep(bg) != nil || r.Close() != nil {
		t.Error("a nil reaper should do nothing")
	}
}

// adopter is a program that adopts orphans and prints the result as JSON.
func adopter(a []string) {
	other := self("sleep") // a child that was started with os/exec directly
	check(other.Start())
	r, err := proc.Adopt()
	check(err)
	led := proc.NewRegistry(nil, r)
	res := proc.Run(bg, proc.Spec{Argv: argv("daemon"), Registry: led})
	check(res.Err())
	srv, err := proc.Start(bg, proc.Spec{Name: "srv", Argv: argv("sleep"), Registry: led})
	check(err)
	quick, err := proc.Start(bg, proc.Spec{Argv: argv("exit", "5"), Registry: led})
	check(err)
	late := self("exit", "6") // waited for only much later
	check(late.Start())
	time.Sleep(2500 * time.Millisecond) // the reaper checks twice
	var kept proc.Snapshot
	if len(a) > 0 {
		kept = led.Release()
	}
	left := r.Sweep(bg)
	out := map[string]any{
		"left": left, "kept": kept.Groups, "stdout": res.Stdout.String(),
		"srv": alive(srv.Pid()), "other": alive(other.Process.Pid),
		"quick": quick.Stop(bg, short).Exit.Code,
	}
	led.Close(bg, short)
	srv.Kill()
	srv.Stop(bg, short)
	out["late"] = fmt.Sprint(late.Wait())
	other.Process.Kill()
	out["otherWait"] = fmt.Sprint(other.Wait())
	json.NewEncoder(os.Stdout).Encode(out)
}

func TestReaperFindsDaemons(t *testing.T) {
	t.Parallel()
	got := adopt(t)
	pid := pidIn(t, got.Stdout, "daemon")
	if len(got.Left) != 1 || got.Left[0].Pid != pid || !strings.HasSuffix(got.Left[0].Command, "helper sleep") {
		t.Errorf("leftovers %+v, want the daemon %d", got.Left, pid)
	}
	if alive(pid) {
		t.Error("the daemon lives")
	}
	if !got.Srv || !got.Other || got.Quick != 5 {
		t.Errorf("touched what is not its own: %+v", got)
	}
	if got.Late != "exit status 6" || got.OtherWait != "signal: killed" {
		t.Errorf("stole a status: %+v", got)
	}
}

func TestReleaseNamesDaemons(t *testing.T) {
	t.Parallel()
	got := adopt(t, "release")
	pid := pidIn(t, got.Stdout, "daemon")
	if len(got.Left) != 0 || len(got.Kept) != 2 || got.Kept[0].Name != "srv" || got.Kept[1].Pid != pid || !alive(pid) {
		t.Errorf("got %+v", got)
	}
	ends := proc.Snapshot{Groups: got.Kept[1:]}.Kill(bg, proc.Grace{})
	if len(ends[0].Members) != 1 || ends[0].How != proc.ByTerm || alive(pid) {
		t.Errorf("got %+v", ends)
	}
}

type adopted struct {
	Left            []proc.Leftover
	Kept            []proc.Ref
	Stdout          string
	Srv, Other      bool
	Quick           int
	Late, OtherWait string
}

func adopt(t *testing.T, args ...string) (got adopted) {
	t.Helper()
	cmd := self(append([]string{"adopt"}, args...)...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	data, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, errs.String())
	}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestSnapshot(t *testing.T) {
	led := proc.NewRegistry(nil, nil)
	dir := t.TempDir()
	a := start(t, proc.Spec{Name: "a", Argv: argv("sleep"), Registry: led, LogFile: dir + "/a.log"})
	b := start(t, proc.Spec{Name: "b", Argv: argv("stubborn"), Registry: led, LogFile: dir + "/b.log"})
	ready(t, a)
	ready(t, b)
	gone := start(t, proc.Spec{Name: "gone", Argv: argv("exit", "0"), Registry: led})
	gone.Stop(bg, short)
	snap := led.Release()
	for _, p := range []*proc.Process{a, b} {
		if _, err := p.Release(); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Release(); err == nil {
			t.Error("released twice")
		}
		if st := p.Stop(bg, short); st.Exit.Err == nil {
			t.Errorf("a released process was stopped: %+v", st)
		}
	}
	led.Close(bg, short)
	if !alive(a.Pid()) || !alive(b.Pid()) {
		t.Fatal("released processes must live")
	}
	data, err := json.Marshal(snap)
	if err != nil {
		t.Fatal(err)
	}
	var back proc.Snapshot
	if err := json.Unmarshal(data, &back); err != nil || len(back.Groups) != 2 || len(back.Alive()) != 2 {
		t.Fatalf("%s, %v", data, err)
	}
	forged := proc.Snapshot{Groups: []proc.Ref{{Name: "a", Pid: a.Pid(), Start: "other-boot/12"}}}
	if e := forged.Kill(bg, short); len(e[0].Members) != 0 || !alive(a.Pid()) {
		t.Fatalf("killed a process with another start time: %+v", e)
	}
	ends := back.Kill(bg, short)
	if len(ends) != 2 || ends[0].Ref.Name != "b" || ends[0].How != proc.ByKill || (ends[1].How != proc.ByTerm && ends[1].How != proc.ByKill) || ends[1].Members[0].Of != "a" {
		t.Errorf("got %+v", ends)
	}
	if alive(a.Pid()) || alive(b.Pid()) || len(back.Alive()) != 0 {
		t.Error("still alive")
	}
	if again := back.Kill(bg, short); len(again[0].Members)+len(again[1].Members) != 0 || again[0].How != proc.ByItself {
		t.Errorf("the second time: %+v", again)
	}
}

func TestKillAll(t *testing.T) {
	led := proc.NewRegistry(nil, nil)
	a := start(t, proc.Spec{Argv: argv("stubborn"), Registry: led})
	b := start(t, proc.Spec{Argv: argv("stubborn"), Registry: led})
	within(t, led.KillAll)
	<-a.Done()
	<-b.Done()
	if r := proc.Run(bg, proc.Spec{Argv: argv("sleep"), Registry: led}); r.StartErr == nil {
		t.Error("something was started after everything was killed")
	}
}

// churner starts servers as fast as it can until it is killed.
func churner() {
	g, err := proc.StartWatchdog(exe(), "helper", "watchdog")
	check(err)
	led := proc.NewRegistry(g, nil)
	fmt.Println("end")
	for {
		p, err := proc.Start(bg, proc.Spec{Argv: argv("stubborn"), PipeStdin: true, Registry: led})
		check(err)
		go p.Stop(bg, proc.Grace{Stdin: -1, Term: -1})
	}
}

// A runner that is killed at any moment, also during a start, leaves nothing running.
func TestKilledInTheMiddleOfAStart(t *testing.T) {
	for i := range 10 {
		cmd := self("churn")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		out.Read(make([]byte, 4))
		time.AfterFunc(time.Duration(5000+i*1379%9000)*time.Microsecond, func() { cmd.Process.Kill() })
		cmd.Wait()
		testkit.Wait(t, "nothing is left", func() bool { return len(survivors()) == 0 })
	}
}

// Many starts and stops leave no open file and no goroutine.
func TestStartsLeakNothing(t *testing.T) {
	files := func() int { d, _ := os.ReadDir("/proc/self/fd"); return len(d) }
	g, err := proc.StartWatchdog(exe(), "helper", "watchdog")
	if err != nil {
		t.Fatal(err)
	}
	led := proc.NewRegistry(g, nil)
	before := files()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 15 {
				p, err := proc.Start(bg, proc.Spec{Argv: argv("eof"), PipeStdin: true, PipeStdout: true, Registry: led})
				if err != nil {
					t.Error(err)
					return
				}
				go io.Copy(io.Discard, p.Stdout())
				if st := p.Stop(bg, proc.Grace{}); st.How != proc.ByEOF || len(st.Leftovers) > 0 {
					t.Errorf("%+v", st)
				}
				proc.Start(bg, proc.Spec{Argv: []string{"./nosuch"}, Registry: led})
				proc.Start(bg, proc.Spec{Argv: argv("eof"), LogFile: "/no/such/dir/x", Registry: led})
			}
		})
	}
	all.Wait()
	testkit.Wait(t, "files are closed", func() bool { return files() <= before })
	if len(led.Live()) != 0 || g.Err() != nil {
		t.Errorf("live %v, %v", led.Live(), g.Err())
	}
	led.Close(bg, short)
}

func TestNilRegistry(t *testing.T) {
	var led *proc.Registry
	if r := proc.Run(bg, proc.Spec{Argv: argv("exit", "0"), Registry: led}); r.Err() != nil {
		t.Error(r.Err())
	}
}
