package proc

import (
	"os"
	"os/exec"
	"slices"
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

// The kernel's lists and the whole process table name the same children.
func TestChildrenAreThoseOfTheTable(t *testing.T) {
	var want []int
	for range 3 {
		cmd := exec.Command("cat")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			in.Close()
			cmd.Wait()
		})
		want = append(want, cmd.Process.Pid)
	}
	self := os.Getpid()
	var table []procInfo
	for _, p := range processes() {
		if p.Ppid == self {
			table = append(table, p)
		}
	}
	for name, got := range map[string][]int{"children": pids(children()), "childrenFast": pids(childrenFast()), "the table": pids(table)} {
		for _, pid := range want {
			if !slices.Contains(got, pid) {
				t.Errorf("%s: %v lacks our child %d", name, got, pid)
			}
		}
	}
}

func BenchmarkChildren(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		children()
	}
}
