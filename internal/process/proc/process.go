package proc

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"mcptest/internal/process/tail"
)

// Process is a running program and the process group it leads. The caller of Start
// must call Stop, even if the process has exited, because only Stop finds what it
// left running. All methods are safe for concurrent use.
type Process struct {
	spec  Spec
	cmd   *exec.Cmd
	ref   Ref
	mark  string // in its environment; may be ""
	group *group

	stdin   *stdinPipe // nil if not a pipe
	unread  []byte     // set before done is closed
	wire    *wire      // nil when stdout is captured
	out     *tail.Tail // nil if stdout is a pipe
	err     *tail.Tail
	streams []*stream

	exited   chan struct{} // closed after the process is reaped; exit is then set
	stopping chan struct{} // closed by the first Stop
	done     chan struct{} // closed after its output is complete or was given up
	exit     Exit

	mu         sync.Mutex // held during a stop
	stopped    *Stopped
	released   bool
	detach     func() bool // stops watching the context
	registered sync.Once   // ends the registration
}

// Start starts a program as the leader of a new process group. If ctx is done before
// the program has exited, the whole group is killed; a long-lived program needs a
// context that lives as long, and Stop.
//
// The error is a *StartError, or the cause of ctx if ctx was already done.
func Start(ctx context.Context, s Spec) (*Process, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	s.OutputLimit = cmp.Or(max(s.OutputLimit, 0), tail.DefaultLimit)
	if s.Name == "" && len(s.Argv) > 0 {
		s.Name = filepath.Base(s.Argv[0])
	}
	if s.Prepare != nil {
		if err := s.Prepare(s.Registry); err != nil {
			return nil, &StartError{Program: s.Name, Msg: "cannot be prepared", Err: err}
		}
	}
	cmd, err := command(s)
	if err != nil {
		return nil, err
	}
	p := &Process{
		spec:     s,
		cmd:      cmd,
		exited:   make(chan struct{}),
		done:     make(chan struct{}),
		stopping: make(chan struct{}),
	}
	var files startFiles
	if err := p.open(&files); err != nil {
		files.closeAll()
		return nil, &StartError{Program: cmd.Path, Msg: "cannot prepare its input and output", Err: err}
	}
	if s.Registry.isClosed() {
		files.closeAll()
		return nil, &StartError{Program: cmd.Path, Msg: "all processes are being killed"}
	}
	if p.mark = s.Registry.mark(s.Name); p.mark != "" {
		cmd.Env = append(cmd.Environ(), p.mark)
	}
	if p.group, err = startGroup(cmd); err != nil {
		files.closeAll()
		return nil, spawnError(s, cmd, err)
	}
	files.closeChild()
	p.ref = Ref{
		Name:    s.Name,
		Pid:     cmd.Process.Pid,
		Start:   startTime(cmd.Process.Pid),
		Argv:    s.Argv,
		LogFile: s.LogFile,
	}
	p.group.ref = p.ref
	s.Registry.add(p.ref)
	for _, st := range p.streams {
		go st.pump(p.exited)
	}
	if s.Stdin != nil && !s.PipeStdin {
		go p.stdin.copyFrom(s.Stdin)
	}
	p.detach = context.AfterFunc(ctx, p.Kill)
	go p.wait()
	return p, nil
}

// startFiles are the ends of the pipes during the start of a program.
type startFiles struct{ child, own []*os.File }

func (f *startFiles) pipe(childReads bool) (child, own *os.File, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("open a pipe: %w", err)
	}
	child, own = w, r
	if childReads {
		child, own = r, w
	}
	f.child, f.own = append(f.child, child), append(f.own, own)
	return child, own, nil
}

func (f *startFiles) closeChild() {
	for _, c := range f.child {
		c.Close()
	}
}

func (f *startFiles) closeAll() {
	f.closeChild()
	for _, o := range f.own {
		o.Close()
	}
}

// open opens the three standard streams.
func (p *Process) open(files *startFiles) error {
	s := p.spec
	if s.PipeStdin || s.Stdin != nil {
		child, own, err := files.pipe(true)
		if err != nil {
			return err
		}
		p.cmd.Stdin, p.stdin = child, &stdinPipe{f: own}
	}
	if s.LogFile != "" {
		return p.openLog(files)
	}
	child, own, err := files.pipe(false)
	if err != nil {
		return err
	}
	p.cmd.Stdout = child
	if s.PipeStdout {
		p.wire = &wire{f: own, poll: s.Registry.turn().Waiter(own), ended: make(chan struct{})}
	} else {
		p.out = tail.New(s.OutputLimit)
		p.streams = append(p.streams, newStream(own, p.out, nil))
	}
	if child, own, err = files.pipe(false); err != nil {
		return err
	}
	p.cmd.Stderr, p.err = child, tail.New(s.OutputLimit)
	st := newStream(own, p.err, s.OnStderr)
	st.copy = s.CopyStderr
	p.streams = append(p.streams, st)
	return nil
}

// Unread returns the part of standard input that the process had not read when it
// exited, at most 1 MiB. It is available on Linux after Done is closed, unless
// another process of its group is alive.
func (p *Process) Unread() []byte {
	select {
	case <-p.done:
		return p.unread
	default:
		return nil
	}
}

// wait reaps the process, then waits for its output for at most WaitDelay.
func (p *Process) wait() {
	awaitExit(p.Pid())
	state, err := p.cmd.Process.Wait()
	p.exit = exitOf(state, err)
	close(p.exited)
	p.detach()
	p.awaitLaunched()
	if p.stdin != nil {
		if !p.group.alive() {
			p.unread = p.stdin.rest() // read it while this is the last reader
		}
		p.stdin.Close()
	}
	p.drain()
	if p.wire != nil {
		p.wire.expire()
	}
	close(p.done)
}

// awaitLaunched waits, after a launcher has ended, for the end of what it left running.
func (p *Process) awaitLaunched() {
	if !p.spec.Launcher || p.wire == nil || !p.exit.Success() {
		return
	}
	for p.group.alive() {
		select {
		case <-p.wire.ended:
			return
		case <-p.stopping:
			return
		case <-time.After(launchedPoll):
		}
	}
}

// launchedPoll is the interval at which the group of a launcher is checked.
const launchedPoll = 50 * time.Millisecond

// drain waits until all captured streams have ended, for at most WaitDelay.
func (p *Process) drain() {
	limit := time.NewTimer(WaitDelay)
	defer limit.Stop()
	for _, st := range p.streams {
		select {
		case <-st.ended:
		case <-limit.C:
			return
		}
	}
	if p.wire != nil && p.group.alive() {
		select {
		case <-p.wire.ended:
		case <-limit.C:
		}
	}
}

// Name returns the name of the process in messages.
func (p *Process) Name() string { return p.spec.Name }

// Pid returns the process id, which is also that of its group.
func (p *Process) Pid() int { return p.ref.Pid }

// Ref returns the group's identity in a Registry or a Snapshot.
func (p *Process) Ref() Ref { return p.ref }

// Stdin returns the pipe to the program; nil without Spec.PipeStdin. Closing it twice
// is not an error; a write after the program exited is.
func (p *Process) Stdin() io.WriteCloser {
	if !p.spec.PipeStdin {
		return nil
	}
	return p.stdin
}

// Stdout returns the program's standard output if Spec.PipeStdout is set; nil
// otherwise. One goroutine must read it until io.EOF, which follows the exit of the
// process within WaitDelay, even if a grandchild still holds the pipe.
func (p *Process) Stdout() io.Reader {
	if p.wire == nil {
		return nil
	}
	return p.wire
}

// OutputWaiting returns the number of unread bytes of standard output. It is
// available on Linux with Spec.PipeStdout.
func (p *Process) OutputWaiting() int {
	if p.wire == nil {
		return 0
	}
	return p.wire.waiting()
}

// InputWaiting returns the number of bytes of standard input that the process has not
// read. It is available on Linux with Spec.PipeStdin.
func (p *Process) InputWaiting() int {
	if p.stdin == nil {
		return 0
	}
	return p.stdin.waiting()
}

// Output returns the captured standard output; an empty Tail with Spec.PipeStdout.
func (p *Process) Output() *tail.Tail {
	if p.out == nil {
		return tail.New(1)
	}
	return p.out
}

// Stderr returns the captured standard error.
func (p *Process) Stderr() *tail.Tail { return p.err }

// Logs returns the captured streams, each once.
func (p *Process) Logs() []*tail.Tail {
	if p.out == nil || p.out == p.err {
		return []*tail.Tail{p.err}
	}
	return []*tail.Tail{p.out, p.err}
}

// Exited is closed as soon as the process itself has exited and Exit is available.
// Output may be incomplete; see Done.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Done is closed when the process has exited and its output is complete, or WaitDelay
// later if others still hold its pipes.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit returns the exit status of the process. Before Exited is closed, the status
// contains an error.
func (p *Process) Exit() Exit {
	select {
	case <-p.exited:
		return p.exit
	default:
		return Exit{Code: -1, Err: errRunning}
	}
}

// Signal sends a signal to the whole group. On Windows every signal is CTRL_BREAK.
func (p *Process) Signal(sig os.Signal) { p.group.signal(sig) }

// Kill sends SIGKILL to the whole group and does not wait.
func (p *Process) Kill() { p.group.kill() }
