//go:build !linux

package testkit

// reserve reserves nothing: only Linux has abstract sockets.
func reserve(int) bool { return true }
