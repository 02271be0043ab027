package cli

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// Streams are what a command reads, writes and is given by its environment.
// Nothing in this package touches the process's own.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	Env      []string // as os.Environ gives it
	// Self is the path of this program, for suites that use it as a server
	// and for the guardian; empty when it isn't known.
	Self string
	// Exit ends the process at once, after a second signal.
	Exit func(code int)

	args []string // the command line, without the program's name

	// keepFile runs open and has the file it names removed should this program
	// be killed before drop
	// is called; nil: nobody does.
	keepFile func(open func() (path string)) (drop func())
}

// System returns the process's own streams.
func System() Streams {
	return Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.Environ(), Self: self(), Exit: os.Exit}
}

// self finds this program by the name it was started with, so that a link's
// name survives, and by the system's word otherwise.
func self() string {
	if path, err := exec.LookPath(os.Args[0]); err == nil {
		if abs, err := filepath.Abs(path); err == nil {
			return abs
		}
	}
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	return path
}
