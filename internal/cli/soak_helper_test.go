package cli_test

import (
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"
)

// soakHelper is a program for suites: listen PORT, until SIGTERM or, deaf,
// until SIGKILL.
func soakHelper() {
	if len(os.Args) != 4 || os.Args[1] != "listen" {
		os.Exit(2)
	}
	l, err := net.Listen("tcp", "127.0.0.1:"+os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if os.Args[3] == "deaf" {
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
	}
	for {
		c, err := l.Accept()
		if err != nil {
			os.Exit(1)
		}
		c.Close()
	}
}
