package faults_test

import (
	"os"
	"os/signal"
	"syscall"
)

// hearHangup restores the default handling of SIGHUP for the programs that tests start:
// under nohup, or in a CI runner without a terminal, they would all ignore it.
func hearHangup() { signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) }
