package proc

import (
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func pids(list []procInfo) []int {
	var out []int
	for _, p := range list {
		out = append(out, p.Pid)
	}
	slices.Sort(out)
	return out
}

// An orphan is in the list of this process's first thread, regardless of the thread
// that started its parent.
func TestOrphansAreChildren(t *testing.T) {
	r, err := Adopt()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var want []int
	for range 3 {
		done := make(chan struct{})
		go func() {
			defer close(done)
			runtime.LockOSThread() // and end the thread with the goroutine
			out, err := exec.Command("sh", "-c", "sleep 60 >&- 2>&- & echo $!").Output()
			pid, _ := strconv.Atoi(strings.TrimSpace(string(out)))
			if err != nil || pid == 0 {
				t.Errorf("%v, pid %d", err, pid)
				return
			}
			want = append(want, pid)
		}()
		<-done
	}
	for name, got := range map[string][]int{"listChildren": pids(listChildren()), "listChildrenFast": pids(listChildrenFast())} {
		for _, pid := range want {
			if !slices.Contains(got, pid) {
				t.Errorf("%s: %v lacks the orphan %d", name, got, pid)
			}
		}
	}
	for _, pid := range want {
		syscall.Kill(pid, syscall.SIGKILL)
		syscall.Wait4(pid, nil, 0, nil)
	}
}

func BenchmarkChildren(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		listChildren()
	}
}
