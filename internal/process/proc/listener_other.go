//go:build !linux

package proc

import "net"

// ForeignListener is not implemented on this system.
func ForeignListener(*Process, *net.TCPAddr) string { return "" }
