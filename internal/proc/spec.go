package proc

import (
	"cmp"
	"io"
	"os/exec"
	"time"
)

// WaitDelay is how long a process that has ended is waited for to hand over
// the rest of its output when somebody else still holds its pipes.
const WaitDelay = time.Second

// DefaultRunLimit is how many bytes of each output stream Run keeps.
const DefaultRunLimit = 1 << 20

// Spec says what to start.
type Spec struct {
	// Name is how messages call it; the base name of Argv[0] when empty.
	Name string
	// Argv is the program and its arguments, one item each; never a shell line.
	Argv []string
	// Dir is the working directory; a relative Argv[0] with a slash, and
	// relative entries of PATH, are resolved against it. "" = the runner's own.
	Dir string
	// Env is the whole environment as NAME=value; nil = the runner's own.
	// The program is looked for in the PATH it holds.
	Env []string

	// Stdin is what the program reads; nil = nothing (the null device).
	// The reader must end by itself: it is read until the program is gone.
	Stdin io.Reader
	// PipeStdin gives the owner a pipe to write to ([Process.Stdin]).
	PipeStdin bool
	// PipeStdout gives the owner the program's standard output to read
	// ([Process.Stdout]); otherwise it is captured ([Process.Output]).
	PipeStdout bool
	// OutputLimit is the number of bytes kept of each captured stream;
	// 0 = tail.DefaultLimit for Start, DefaultRunLimit for Run.
	OutputLimit int64
	// OnStderr is called with each line of standard error as it comes, without
	// its line end, from one goroutine; a line over 64 KiB comes in pieces.
	OnStderr func(line string)
	// CopyStderr receives standard error unchanged as it comes; may be nil. The
	// program waits while it blocks.
	CopyStderr io.Writer

	// LogFile makes the program write standard output and standard error
	// straight to this file (created, appended to) in place of pipes, so that
	// it can go on after the runner ended ([Process.Release]). Output then
	// follows the file and holds both streams; Stderr is the same Tail.
	LogFile string
	// KeepChildren leaves alone what is still running in the group of a program
	// that ended by itself (a fixture that starts a daemon). The group stays in
	// the Registry, which ends it later. Only Run uses it: a process of Start keeps
	// its group until Stop in any case.
	KeepChildren bool
	// Change changes the command before it is started, such as the namespaces it
	// runs in; may be nil.
	Change func(*exec.Cmd)
	// Registry records the group from its start to its end; may be nil.
	Registry *Registry
}

// Ref names a process group so that a later look can tell whether it is still
// the same one. It can be written as JSON.
type Ref struct {
	Name string `json:"name"`
	// Pid of the process that was started, which leads the group.
	Pid int `json:"pid"`
	// Start says when it started, in the words of the system (boot id and
	// clock ticks on Linux); a reused Pid has another Start. "" = unknown.
	Start string   `json:"start"`
	Argv  []string `json:"argv,omitempty"`
	// LogFile is where its output goes, when it goes to a file.
	LogFile string `json:"log_file,omitempty"`
}

// Grace is how long each polite step of a stop may take.
type Grace struct {
	// Stdin is the time after closing standard input; it is skipped for a
	// process that has no pipe there. 0 = 2 s, negative = none.
	Stdin time.Duration
	// Term is the time after SIGTERM. 0 = 2 s, negative = none: SIGTERM is not
	// sent either.
	Term time.Duration
}

const defaultGrace = 2 * time.Second

func (g Grace) withDefaults() Grace {
	g.Stdin = cmp.Or(g.Stdin, defaultGrace)
	g.Term = cmp.Or(g.Term, defaultGrace)
	return g
}

// Leftover is a process that was still there when what started it had ended.
type Leftover struct {
	Pid     int    `json:"pid"`
	Command string `json:"command"` // arguments joined by spaces, or [name]; at most 200 bytes
	// Of is the name of the Spec it came from; "" = unknown.
	Of string `json:"of,omitempty"`
}

// How says what ended a process.
type How uint8

// The ways a process ends, in the order a stop tries them.
const (
	ByItself How = iota // it had ended before it was asked to
	ByEOF               // after standard input was closed
	ByTerm              // after SIGTERM
	ByKill              // by SIGKILL
)

func (h How) String() string {
	return [...]string{"by itself", "stdin closed", "SIGTERM", "SIGKILL"}[h]
}

// Stopped is what a stop found.
type Stopped struct {
	Name string
	Pid  int
	Exit Exit
	How  How
	// Forced: it ended only by SIGKILL.
	Forced bool
	// Leftovers were alive a moment after the process itself had ended; they
	// have been killed.
	Leftovers []Leftover
	Took      time.Duration
}
