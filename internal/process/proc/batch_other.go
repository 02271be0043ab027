//go:build !windows

package proc

import "os/exec"

// runAsBatch is for Windows.
func runAsBatch(*exec.Cmd) error { return nil }
