//go:build unix

package vigil

import (
	"os/signal"
	"syscall"
)

// waits says whether this system has guardians.
const waits = true

// ignoreSignals makes the guardian deaf to what may be meant for the runner.
func ignoreSignals() {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE)
}
