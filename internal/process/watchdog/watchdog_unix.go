//go:build unix

package watchdog

import (
	"os/signal"
	"syscall"
)

// supported reports whether this system has watchdogs.
const supported = true

// ignoreSignals makes the watchdog ignore signals that may be meant for the runner.
func ignoreSignals() {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE)
}
