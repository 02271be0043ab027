//go:build !linux

package load

import "time"

func pause(d time.Duration) { time.Sleep(d) }

// readCPUTime is not measured on this system.
func readCPUTime() time.Duration { return 0 }
