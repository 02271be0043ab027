package proc

import "syscall"

// reap takes the status of a dead child that no one else waits for.
func reap(pid int) {
	var ws syscall.WaitStatus
	_, _ = syscall.Wait4(pid, &ws, syscall.WNOHANG, nil)
}
