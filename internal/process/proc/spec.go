package proc

import (
	"cmp"
	"io"
	"os/exec"
	"time"
)

// WaitDelay limits the wait for the rest of the output of an exited process if
// another process holds its pipes.
const WaitDelay = time.Second

// DefaultRunLimit is the number of bytes of each output stream that Run keeps.
const DefaultRunLimit = 1 << 20

// Spec defines a program to start.
type Spec struct {
	// Name is the name in messages; by default the base name of Argv[0].
	Name string
	// Argv is the program and its arguments, never a shell command.
	Argv []string
	// Dir is the working directory, which a relative Argv[0] with a slash and
	// relative entries of PATH are relative to. "" means the runner's own.
	Dir string
	// Env is the whole environment as NAME=value; nil means the runner's own. The
	// program is searched for in its PATH.
	Env []string

	// Stdin is the program's input; nil means none (the null device). The reader must
	// return io.EOF by itself, because it is read until the program exits.
	Stdin io.Reader
	// PipeStdin creates a pipe to write to ([Process.Stdin]).
	PipeStdin bool
	// PipeStdout creates a pipe to read standard output from ([Process.Stdout]);
	// otherwise it is captured ([Process.Output]).
	PipeStdout bool
	// Launcher says that the program may leave its pipes to another process of its group,
	// and end with status 0: until that one closes the output, or Stop is called, they
	// stay open.
	Launcher bool
	// OutputLimit is the number of bytes kept of each captured stream; 0 means
	// tail.DefaultLimit for Start, DefaultRunLimit for Run.
	OutputLimit int64
	// OnStderr is called by one goroutine with each line of standard error, without
	// its line end; lines over 64 KiB are split.
	OnStderr func(line string)
	// CopyStderr receives standard error unchanged; may be nil. The program waits
	// while it blocks.
	CopyStderr io.Writer

	// LogFile makes the program write standard output and standard error directly to
	// this file (created, appended to) instead of pipes, so that it can continue
	// after the runner exits ([Process.Release]). Output then follows the file and
	// holds both streams; Stderr is the same Tail.
	LogFile string
	// KeepChildren keeps processes running that remain in the group after the program
	// exited (a fixture that starts a daemon). The group stays in the Registry, which
	// ends it later. Only Run uses it: a process of Start always keeps its group
	// until Stop.
	KeepChildren bool
	// Strays makes Stop look for processes that left the group, and end them: they are
	// leftovers too. Only Linux knows them.
	Strays bool
	// Prepare makes ready what the program consists of, right before it is looked up, such
	// as the files of a bundle that are unpacked; may be nil.
	Prepare func(*Registry) error
	// Change modifies the command before it is started, such as its namespaces; may
	// be nil.
	Change func(*exec.Cmd)
	// Registry tracks the group; may be nil.
	Registry *Registry
}

// Ref identifies a process group, even if its process id is reused. It can be encoded
// as JSON.
type Ref struct {
	Name string `json:"name"`
	// Pid is the id of the started process, which leads the group.
	Pid int `json:"pid"`
	// Start identifies when the process started, in the system's own format (boot id
	// and clock ticks on Linux); a process with a reused Pid has a different Start.
	// "" means unknown.
	Start string   `json:"start"`
	Argv  []string `json:"argv,omitempty"`
	// LogFile is the file with its output, if any.
	LogFile string `json:"log_file,omitempty"`
}

// Grace limits each step of a stop.
type Grace struct {
	// Stdin is the time after closing standard input; it is skipped for a process
	// without a pipe. 0 means 2 s, a negative value none.
	Stdin time.Duration
	// Term is the time after SIGTERM. 0 means 2 s; with a negative value SIGTERM is
	// not sent.
	Term time.Duration
	// Rest is the time for the rest of the group, and for processes that left it, to exit
	// after their leader. 0 means 1 s.
	Rest time.Duration
}

// DefaultGrace is the default of each time in [Grace].
const DefaultGrace = 2 * time.Second

// leftoverGrace is by default the time for the rest of a group, or a process that left it,
// to exit after its leader; only processes that are alive after it are leftovers.
// Helpers that monitor their parent need a moment to notice its exit.
const leftoverGrace = time.Second

func (g Grace) withDefaults() Grace {
	g.Stdin = cmp.Or(g.Stdin, DefaultGrace)
	g.Term = cmp.Or(g.Term, DefaultGrace)
	g.Rest = cmp.Or(g.Rest, leftoverGrace)
	return g
}

// Leftover is a process that was alive after the program that started it had exited.
type Leftover struct {
	Pid     int    `json:"pid"`
	Command string `json:"command"` // arguments joined by spaces, or [name]; at most 200 bytes
	// Of is the name of its Spec; "" if unknown.
	Of string `json:"of,omitempty"`
}

// How is the way in which a process ended.
type How uint8

// Ways in which a process ends, in the order of a stop.
const (
	ByItself How = iota // before the stop
	ByEOF               // after standard input was closed
	ByTerm              // after SIGTERM
	ByKill              // by SIGKILL
)

func (h How) String() string {
	return [...]string{"by itself", "stdin closed", TermName, killName}[h]
}

// Stopped is the result of a stop.
type Stopped struct {
	Name string
	Pid  int
	Exit Exit
	How  How
	// Forced is set if only SIGKILL ended it.
	Forced bool
	// Leftovers were alive a moment after the process had exited; they have been
	// killed.
	Leftovers []Leftover
	Took      time.Duration
}
