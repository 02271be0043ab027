//go:build unix

package proc

import (
	"os/signal"
	"syscall"
)

const needsWatchdog = true

// ignoreSignals makes the watchdog ignore signals that may be meant for the runner.
func ignoreSignals() {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE)
}
