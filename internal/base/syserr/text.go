package syserr

import (
	"errors"
	"runtime"
	"strings"
	"syscall"
)

// Numbers of errors of Windows.
const (
	winFunction     = 1 // a folder is read as a file
	winFileNotFound = 2
	winPathNotFound = 3
	winAccessDenied = 5
	winBrokenPipe   = 109
	winDiskFull     = 112
	winNotEmpty     = 145
	winExists       = 183
	winNoData       = 232
	winDirectory    = 267
	winInUse        = 10048
	winReset        = 10054
	winTimedOut     = 10060
	winRefused      = 10061
	winUnreachable  = 10065
)

// posix are the errors of POSIX that are the same as those of Windows, and the words for
// them.
func posix(number syscall.Errno) (same syscall.Errno, words string) {
	switch number {
	case winFunction:
		return syscall.EISDIR, "is a directory"
	case winFileNotFound, winPathNotFound:
		return syscall.ENOENT, "no such file or directory"
	case winAccessDenied:
		return syscall.EACCES, "permission denied"
	case winBrokenPipe, winNoData:
		return syscall.EPIPE, "broken pipe"
	case winDiskFull:
		return syscall.ENOSPC, "no space left on device"
	case winNotEmpty:
		return syscall.ENOTEMPTY, "directory not empty"
	case winExists:
		return syscall.EEXIST, "file exists"
	case winDirectory:
		return syscall.ENOTDIR, "not a directory"
	case winInUse:
		return syscall.EADDRINUSE, "address already in use"
	case winReset:
		return syscall.ECONNRESET, "connection reset by peer"
	case winTimedOut:
		return syscall.ETIMEDOUT, "connection timed out"
	case winRefused:
		return syscall.ECONNREFUSED, "connection refused"
	case winUnreachable:
		return syscall.EHOSTUNREACH, "no route to host"
	}
	return number, ""
}

// callNames are the calls of Windows that the errors of package net name, and the names of
// those elsewhere.
var callNames = strings.NewReplacer("connectex: ", "connect: ", "wsarecv: ", "read: ", "wsasend: ", "write: ")

// Text is err.Error() with the words of POSIX for what the system said.
func Text(err error) string {
	number, found := errors.AsType[syscall.Errno](err)
	if runtime.GOOS != "windows" || !found {
		return err.Error()
	}
	return reword(err.Error(), number)
}

func reword(text string, number syscall.Errno) string {
	_, plain := posix(number)
	if plain == "" {
		return text
	}
	return callNames.Replace(strings.ReplaceAll(text, number.Error(), plain))
}

// Is tells whether the system reported an error, such as syscall.ECONNREFUSED.
func Is(err error, number syscall.Errno) bool {
	if errors.Is(err, number) {
		return true
	}
	reported, found := errors.AsType[syscall.Errno](err)
	if runtime.GOOS != "windows" || !found {
		return false
	}
	same, _ := posix(reported)
	return same == number
}

// Plain returns an error with the same causes whose text is that of Text.
func Plain(err error) error {
	if text := Text(err); text != err.Error() {
		return &plainError{text, err}
	}
	return err
}

// plainError is an error in other words.
type plainError struct {
	text string
	err  error
}

func (e *plainError) Error() string { return e.text }
func (e *plainError) Unwrap() error { return e.err }
