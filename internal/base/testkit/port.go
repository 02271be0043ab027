package testkit

import (
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
	"sync"
)

// reserved has a listener for each port that FreePort returned, until the process ends.
var reserved sync.Map

// FreePort returns a loopback port on which nothing listens. The system chooses ports
// for listeners and connections above this range, so that none of the programs that
// run at the same time takes the port before the test uses it. On Linux, no other test
// gets it either, in this process or another: each port is reserved by a socket with a
// name of its own.
func FreePort() int {
	for range 1000 {
		port := 10_000 + rand.IntN(22_000)
		if runtime.GOOS == "linux" {
			reservation, err := net.Listen("unix", fmt.Sprintf("@mcptest-port-%d", port))
			if err != nil {
				continue
			}
			reserved.Store(port, reservation)
		}
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			_ = l.Close()
			return port
		}
	}
	panic("testkit: no free port")
}
