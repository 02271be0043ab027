package proc

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/windows"
)

// runAsBatch makes cmd.exe run the batch file of a command. The system would do the same
// without an escape for what is an operator or a variable of cmd.exe.
func runAsBatch(cmd *exec.Cmd) error {
	line, err := batchLine(cmd.Path, cmd.Args[1:])
	if err != nil {
		return err
	}
	system, err := windows.GetSystemDirectory() // not the first cmd.exe in PATH
	if err != nil {
		return fmt.Errorf("find cmd.exe, which runs batch files: %w", err)
	}
	cmd.Path = filepath.Join(system, "cmd.exe")
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.CmdLine = windows.EscapeArg(cmd.Path) + " " + line
	return nil
}
