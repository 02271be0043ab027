package openings

import (
	"context"
	"io"
	"net/http"
	"slices"
	"time"

	"mcptest/internal/client/wire"
	"mcptest/internal/offer/opening"
	"mcptest/internal/process/proc"
)

// process is a line to a process.
type process struct {
	r     *runner
	s     *opening.Script
	in    *inbox
	p     *proc.Process
	w     *wire.LineWriter
	read  chan struct{} // closed when the output was read to its end
	first bool          // nothing was sent yet
}

func newProcess(ctx context.Context, r *runner, s *opening.Script) (*process, error) {
	l := &process{r: r, s: s}
	return l, l.start(ctx)
}

// start starts the program.
func (l *process) start(ctx context.Context) error {
	sv := l.r.o.Server
	p, err := proc.Start(context.WithoutCancel(ctx), proc.Spec{
		Name:       sv.Name,
		Argv:       slices.Concat(sv.Argv, sv.Added),
		Dir:        sv.Dir,
		Env:        sv.Env,
		Change:     sv.Change,
		Prepare:    sv.Prepare(),
		Registry:   l.r.o.Connect.Registry,
		PipeStdin:  true,
		PipeStdout: true,
		Strays:     true,
	})
	if err != nil {
		return err
	}
	l.p, l.first = p, true
	l.w = wire.NewLineWriter(p.Stdin())
	w := l.w
	l.in = newInbox(l.s, func(raw []byte) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = w.WriteLine(ctx, raw) // the end of the process is seen by the reader
	})
	l.read = make(chan struct{})
	go l.readOutput(p, l.in, l.read)
	return nil
}

// readOutput reads until the output ends.
func (l *process) readOutput(p *proc.Process, in *inbox, done chan struct{}) {
	defer close(done)
	limits := l.r.o.Connect.Limits.FillDefaults()
	lines := wire.NewLineReader(p.Stdout(), limits.Message, limits.Drain)
	for {
		if err := lines.ReadLines(receiver{in}); err != nil {
			in.end(endOf(p, err))
			return
		}
	}
}

// endOf says how a process ended.
func endOf(p *proc.Process, err error) string {
	select {
	case <-p.Exited():
		return "ends (" + p.Exit().String() + ")"
	case <-time.After(wire.ExitWait):
	}
	if err == io.EOF {
		return "closes its standard output"
	}
	return "breaks its standard output (" + err.Error() + ")"
}

// receiver passes lines to an inbox.
type receiver struct{ in *inbox }

func (r receiver) OnFrame(f wire.Frame) bool {
	r.in.put(f.Raw)
	return false
}

func (r receiver) OnOversize(m wire.OversizeMessage) {
	if !m.Done {
		r.in.put(m.Head[:min(len(m.Head), 100)])
	}
}

// Send implements opening.Line.
func (l *process) Send(ctx context.Context, f opening.Frame) opening.Answer {
	limit := l.r.limit(f, l.first)
	l.first = false
	l.in.expect(f)
	writing, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := l.w.WriteLine(writing, f.Raw); err != nil {
		// The reader says how the process ended, if it did.
		return l.in.await(ctx, f, min(limit, wire.ExitWait+time.Second))
	}
	if !f.Asks {
		return opening.Answer{}
	}
	return l.in.await(ctx, f, limit)
}

// Fresh implements opening.Line.
func (l *process) Fresh(ctx context.Context) error {
	l.close()
	return l.start(ctx)
}

// Listen implements opening.Line: a process has one stream only.
func (l *process) Listen(context.Context, http.Header) {}

// close ends the process: as gently as usual, until the first one ignores the end of its
// input.
func (l *process) close() {
	if l.p == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	stopped := l.p.Stop(ctx, l.r.findGrace())
	if stopped.How != proc.ByItself && stopped.How != proc.ByEOF {
		l.r.mu.Lock()
		l.r.ignoresEOF = true
		l.r.mu.Unlock()
	}
	<-l.read
	l.p = nil
}
