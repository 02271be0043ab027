//go:build linux

package faults_test

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"
)

// crowd is the number of runnable threads during a run, including those of the program and
// its server.
type crowd struct {
	mu        sync.Mutex
	last      time.Time
	sum, many int
}

// look counts them, at most ten times a second.
func (c *crowd) look() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.last) < 100*time.Millisecond {
		return
	}
	c.last = time.Now()
	stat, _ := os.ReadFile("/proc/stat")
	c.add(stat)
}

func (c *crowd) add(stat []byte) {
	if _, rest, ok := bytes.Cut(stat, []byte("\nprocs_running ")); ok {
		if n, err := strconv.Atoi(string(bytes.Fields(rest)[0])); err == nil {
			c.sum, c.many = c.sum+n, c.many+1
		}
	}
}

// slower is the factor, from 1 to 4, by which a run may have been slower than on an idle
// machine: other threads and three more of the test share the processors.
func (c *crowd) slower(processors int) float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.many == 0 {
		return 1
	}
	others := float64(c.sum)/float64(c.many) - 3
	return min(4, max(1, others/float64(processors)))
}

// allowed is the time limit of a run with that many other runnable threads.
func (t *trial) allowed() time.Duration {
	return time.Duration(float64(t.r.lasts()) * t.crowd.slower(runtime.NumCPU()))
}

// hangs is the time after which a run counts as hanging: half a minute over its limit, and
// up to five times that if the machine was busy.
func (t *trial) hangs() time.Duration {
	var load float64
	if b, err := os.ReadFile("/proc/loadavg"); err == nil {
		_, _ = fmt.Sscan(string(b), &load)
	}
	return time.Duration(float64(t.r.lasts()+30*time.Second) * min(5, max(1, load/float64(runtime.NumCPU()))))
}

func TestCrowd(t *testing.T) {
	for _, tc := range []struct {
		running []string
		want    float64
	}{
		{nil, 1}, {[]string{"1"}, 1}, {[]string{"4", "6"}, 1}, {[]string{"9"}, 3}, {[]string{"7", "11"}, 3}, {[]string{"90"}, 4},
	} {
		c := &crowd{}
		for _, n := range tc.running {
			c.add([]byte("cpu  1 2 3\nprocesses 99\nprocs_running " + n + "\nprocs_blocked 0\n"))
		}
		if got := c.slower(2); got != tc.want {
			t.Errorf("%v on 2 processors: %v times slower, want %v", tc.running, got, tc.want)
		}
	}
	c := &crowd{}
	if c.look(); c.many != 1 || c.sum < 1 {
		t.Errorf("%d threads in %d looks", c.sum, c.many)
	}
}
