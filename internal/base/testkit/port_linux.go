package testkit

import (
	"fmt"
	"syscall"
)

// reserve reports whether the process reserved a port, which it does once and keeps until
// it ends. The reservation is an abstract socket, so that the port itself stays free.
func reserve(port int) bool {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return false
	}
	if syscall.Bind(fd, &syscall.SockaddrUnix{Name: fmt.Sprintf("@mcptest-port-%d", port)}) == nil {
		return true
	}
	_ = syscall.Close(fd)
	return false
}
