package cli_test

import (
	"os"
	"os/signal"
	"syscall"
)

// hearHangup gives the programs that tests start the usual meaning of SIGHUP:
// under nohup, or a CI runner without a terminal, it would be ignored in all of
// them, and what is tested is what it does.
func hearHangup() { signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) }
