//go:build unix

package proc

import "syscall"

var errNoExec error = syscall.ENOEXEC
