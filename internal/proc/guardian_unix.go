//go:build unix

package proc

import (
	"os/signal"
	"syscall"
)

const needsGuardian = true

// ignoreSignals makes the guardian deaf to what may be meant for the runner.
func ignoreSignals() {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE)
}
