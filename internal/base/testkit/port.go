package testkit

import (
	"fmt"
	"math/rand/v2"
	"net"
)

// FindFreePort returns a loopback port on which nothing listens. The system chooses ports
// for listeners and connections above this range, so that none of the programs that
// run at the same time takes the port before the test uses it. On Linux, no other test
// gets it either, in this process or another, until this process ends.
func FindFreePort() int {
	for range 1000 {
		port := 10_000 + rand.IntN(22_000)
		if !reserve(port) {
			continue
		}
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			_ = l.Close()
			return port
		}
	}
	panic("testkit: no free port")
}
