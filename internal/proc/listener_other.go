//go:build !linux

package proc

import "net"

// ForeignListener is not known here.
func ForeignListener(*Process, *net.TCPAddr) string { return "" }
