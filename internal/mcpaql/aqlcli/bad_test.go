package aqlcli_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcptest/internal/base/testkit"
)

// An adapter that does not end when its input ends, or when it is asked to,
// is ended, and what it started with it.
func TestAdapterThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	prog := conformance(t)
	for name, script := range map[string]string{
		"ignores the end of its input":  `%s demo-adapter; echo $$ > %s; sleep 600`,
		"ignores being asked to end":    `trap "" TERM; %s demo-adapter; echo $$ > %s; while :; do sleep 1; done`,
		"leaves a process behind":       `sleep 600 & echo $! > %[2]s; exec %[1]s demo-adapter`,
		"leaves a process out of reach": `(setsid sleep 600 & echo $! > %[2]s); exec %[1]s demo-adapter`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			pidFile, file := filepath.Join(dir, "pid"), filepath.Join(dir, "adapter.sh")
			if err := os.WriteFile(file, []byte(fmt.Sprintf(script, prog, pidFile)), 0o700); err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			out, errs, code := runProgram(t, prog, "live", "--stdio", "sh "+file, "--journal", dir, "--fail-on", "fail")
			if code != 0 || !strings.Contains(out, ", 0 failed, ") {
				t.Errorf("exit %d\n%s%s", code, out, errs)
			}
			if took := time.Since(begin); took > 60*time.Second {
				t.Errorf("took %s", took)
			}
			data, err := os.ReadFile(pidFile)
			if err != nil {
				t.Fatal(err)
			}
			if pid := strings.TrimSpace(string(data)); alive(pid) {
				t.Errorf("process %s is still there", pid)
			}
		})
	}
}

// alive says that a process runs; one that only waits to be collected is
// none.
func alive(pid string) bool {
	out, err := exec.Command("ps", "-o", "stat=", "-p", pid).Output()
	return err == nil && !strings.HasPrefix(strings.TrimSpace(string(out)), "Z")
}

// A run that is killed at any moment leaves nothing marked that live --clean
// does not find, for every kind of resource.
func TestKilledRunIsCleanedUp(t *testing.T) {
	t.Parallel()
	prog := conformance(t)
	found, rounds := 0, testkit.Count(6, 20) // each feature at least once
	r := rand.New(rand.NewPCG(7, uint64(rounds)))
	features := []string{"", " --with kinds", " --with charter", " --with loans", " --with keys", " --with confirm"}
	for i := range rounds {
		dir := t.TempDir()
		state := filepath.Join(dir, "library.json")
		target := prog + " demo-adapter --operations 30 --state " + state + features[i%len(features)]
		cmd := exec.Command(prog, "live", "--stdio", target, "--mode", "write", "--rate", "1000", "--journal", filepath.Join(dir, "journal"))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		waitForMark(state) // there is something to leave behind
		time.AfterFunc(time.Duration(r.IntN(300))*time.Millisecond, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		settled(state)
		before := markedThings(state)
		found += before
		if out, errs, code := runProgram(t, prog, "live", "--stdio", target, "--clean", "--journal", filepath.Join(dir, "journal")); code != 0 {
			t.Errorf("round %d: exit %d\n%s%s", i, code, out, errs)
		}
		if n := markedThings(state); n > 0 {
			t.Errorf("round %d (%s): %d of %d marked things are left", i, features[i%len(features)], n, before)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "journal", "*")); len(left) > 0 {
			t.Errorf("round %d: journals are left: %v", i, left)
		}
	}
	if found == 0 {
		t.Error("no kill left anything: the test proves nothing")
	}
	t.Logf("%d kills, %d marked texts found and removed", rounds, found)
}

// waitForMark waits until a run created something.
func waitForMark(state string) {
	testkit.Poll(20*time.Second, func() bool { return markedThings(state) > 0 })
}

// settled waits until the adapter of a killed run is through with its last
// call and has ended.
func settled(state string) {
	last, since := "", time.Now()
	testkit.Poll(10*time.Second, func() bool {
		if data, _ := os.ReadFile(state); string(data) != last {
			last, since = string(data), time.Now()
		}
		return time.Since(since) >= 150*time.Millisecond
	})
}

func markedThings(state string) int {
	data, _ := os.ReadFile(state)
	return strings.Count(string(data), `"zz_conf_`)
}
