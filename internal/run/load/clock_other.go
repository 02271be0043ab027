//go:build !linux

package load

import "time"

func pause(d time.Duration) { time.Sleep(d) }

// cpuTime is not measured on this system.
func cpuTime() time.Duration { return 0 }
