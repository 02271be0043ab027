package proc

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"mcptest/internal/proc/tail"
)

// Process is a running program and the group it leads. Whoever started it must
// call Stop in the end, also when it ended by itself: only then what it left
// behind is looked for. All methods may be called from any goroutine.
type Process struct {
	spec  Spec
	cmd   *exec.Cmd
	ref   Ref
	mark  string // in its environment; "" = none
	group *group

	stdin   *stdinPipe // nil without a pipe
	unread  []byte     // set before done is closed
	wire    *wire      // nil when stdout is captured
	out     *tail.Tail // nil when stdout is a pipe for the owner
	err     *tail.Tail
	streams []*stream

	exited chan struct{} // the process itself is reaped; exit is set
	done   chan struct{} // and its output is complete, or given up
	exit   Exit

	mu         sync.Mutex // held for the length of a stop
	stopped    *Stopped
	released   bool
	detach     func() bool // ends the watch on the context
	registered sync.Once   // ends the registration
}

// Start starts a program as the leader of a group of its own. When ctx is done
// before the program has ended, the whole group is killed; give a long-lived
// program a context that lives as long, and end it with Stop.
//
// The error is a *StartError, or the cause of ctx when ctx was done already.
func Start(ctx context.Context, s Spec) (*Process, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if s.OutputLimit <= 0 {
		s.OutputLimit = tail.DefaultLimit
	}
	if s.Name == "" && len(s.Argv) > 0 {
		s.Name = filepath.Base(s.Argv[0])
	}
	cmd, err := command(s)
	if err != nil {
		return nil, err
	}
	p := &Process{spec: s, cmd: cmd, exited: make(chan struct{}), done: make(chan struct{})}
	var files startFiles
	if err := p.open(&files); err != nil {
		files.closeAll()
		return nil, &StartError{Name: s.Name, Program: cmd.Path, Dir: cmd.Dir, Msg: "cannot prepare its input and output", Err: err}
	}
	if s.Registry.closed() {
		files.closeAll()
		return nil, &StartError{Name: s.Name, Program: cmd.Path, Dir: cmd.Dir, Msg: "all processes are being killed"}
	}
	if p.mark = s.Registry.mark(s.Name); p.mark != "" {
		cmd.Env = append(cmd.Environ(), p.mark)
	}
	if err := cmd.Start(); err != nil {
		files.closeAll()
		return nil, spawnError(s, cmd, err)
	}
	files.closeChild()
	p.ref = Ref{Name: s.Name, Pid: cmd.Process.Pid, Start: startTime(cmd.Process.Pid), Argv: s.Argv, LogFile: s.LogFile}
	p.group = newGroup(cmd, p.ref)
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

// startFiles are the ends of the pipes while a program is being started.
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

// open makes the three standard streams.
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
		p.wire = &wire{f: own, ended: make(chan struct{})}
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

// Unread is what the process had not read of its standard input when it ended,
// 1 MiB at most. It is known on Linux, from when Done is closed, unless another
// process of its group lived on.
func (p *Process) Unread() []byte {
	select {
	case <-p.done:
		return p.unread
	default:
		return nil
	}
}

// wait reaps the process, then lets its output come in for WaitDelay at most.
func (p *Process) wait() {
	awaitExit(p.Pid())
	state, err := p.cmd.Process.Wait()
	p.exit = exitOf(state, err)
	close(p.exited)
	p.detach()
	if p.stdin != nil {
		if !p.group.alive() {
			p.unread = p.stdin.rest() // before it is gone; no other reader is left
		}
		p.stdin.Close()
	}
	p.drain()
	if p.wire != nil {
		p.wire.expire()
	}
	close(p.done)
}

// drain waits until all captured streams have ended, for WaitDelay at most.
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

// Name is what messages call the process.
func (p *Process) Name() string { return p.spec.Name }

// Pid is the process id, which is the id of its group too.
func (p *Process) Pid() int { return p.ref.Pid }

// Ref identifies the group in a Registry or a Snapshot.
func (p *Process) Ref() Ref { return p.ref }

// Stdin is the pipe to the program; nil without Spec.PipeStdin. Closing it
// twice is no error; a write after the program ended is one.
func (p *Process) Stdin() io.WriteCloser {
	if !p.spec.PipeStdin {
		return nil
	}
	return p.stdin
}

// Stdout is the program's standard output, with Spec.PipeStdout; nil otherwise.
// It must be read by one goroutine until io.EOF, which comes within WaitDelay of the
// end of the process: a grandchild that still holds the pipe can't block it.
func (p *Process) Stdout() io.Reader {
	if p.wire == nil {
		return nil
	}
	return p.wire
}

// OutputWaiting is how many bytes of standard output have been written and not
// been read yet. It is known on Linux, with Spec.PipeStdout.
func (p *Process) OutputWaiting() int {
	if p.wire == nil {
		return 0
	}
	return p.wire.waiting()
}

// Output is the captured standard output; an empty Tail with Spec.PipeStdout.
func (p *Process) Output() *tail.Tail {
	if p.out == nil {
		return tail.New(1)
	}
	return p.out
}

// Stderr is the captured standard error.
func (p *Process) Stderr() *tail.Tail { return p.err }

// Logs are the captured streams, each once.
func (p *Process) Logs() []*tail.Tail {
	if p.out == nil || p.out == p.err {
		return []*tail.Tail{p.err}
	}
	return []*tail.Tail{p.out, p.err}
}

// Exited is closed as soon as the process itself has ended and Exit is known.
// Output may still be on its way; see Done.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Done is closed when the process has ended and its output is complete, or
// WaitDelay later when others still hold its pipes.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit is how the process ended. Before Exited it is the zero value with an
// error that says the process still runs.
func (p *Process) Exit() Exit {
	select {
	case <-p.exited:
		return p.exit
	default:
		return Exit{Code: -1, Err: errRunning}
	}
}

// Signal passes a signal on to the whole group. On Windows every signal is the
// polite one of Stop.
func (p *Process) Signal(sig os.Signal) { p.group.signal(sig) }

// Kill sends SIGKILL to the whole group at once and does not wait.
func (p *Process) Kill() { p.group.kill() }
