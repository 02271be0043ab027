package cli_test

import "syscall"

// stillActive is the exit status of a process that has none yet.
const stillActive = 259

// lives tells whether a process runs. One that ended can be opened as long as another
// process has it open.
func lives(pid int) bool {
	const queryLimitedInformation = 0x1000
	process, err := syscall.OpenProcess(queryLimitedInformation, false, uint32(pid))
	if err != nil {
		return false
	}
	defer syscall.CloseHandle(process)
	var status uint32
	err = syscall.GetExitCodeProcess(process, &status)
	return err == nil && status == stillActive
}
