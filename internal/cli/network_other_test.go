//go:build !linux

package cli_test

// Network namespaces are a feature of Linux.
func netcountMain() {}

func measuredMain() {}
