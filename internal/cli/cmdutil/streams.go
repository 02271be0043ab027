package cmdutil

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"mcptest/internal/process/pipe"
)

// Streams are what a command reads and writes, and its environment. Commands
// never use the process's own.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	Env      []string // as os.Environ gives it
	// Self is the path of this program, for suites that use it as a server
	// and for the watchdog; empty if it is not known.
	Self string
	// Exit ends the process immediately, after a second signal.
	Exit func(code int)

	Args []string // the command line, without the program's name

	// KeepFile runs open and has the file that open names removed if this
	// program is killed before drop is called. It may be nil.
	KeepFile func(open func() (path string)) (drop func())
}

// System returns the process's own streams.
func System() Streams {
	return Streams{
		In:   os.Stdin,
		Out:  os.Stdout,
		Err:  os.Stderr,
		Env:  os.Environ(),
		Self: findSelf(),
		Exit: os.Exit,
	}
}

// Client returns In for a server, which handles messages of its client while it waits
// for the next one.
func (s Streams) Client() io.Reader { return pipe.Polled(s.In) }

// findSelf finds this program by the name it was started with, which may be a link,
// and otherwise asks the system.
func findSelf() string {
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

// LookupEnv returns the value of a variable in an environment as os.Environ
// gives it, or "".
func LookupEnv(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if k, v, ok := strings.Cut(env[i], "="); ok && k == name {
			return v
		}
	}
	return ""
}

// IsInCI reports whether the environment is that of a CI system: CI is set to a value
// other than a negative one.
func IsInCI(env []string) bool {
	switch strings.ToLower(LookupEnv(env, "CI")) {
	case "", "0", "false", "no", "off":
		return false
	}
	return true
}
