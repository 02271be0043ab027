//go:build !linux

package proc

import "net"

// foreignListener is not known here.
func foreignListener(*Process, *net.TCPAddr) string { return "" }
