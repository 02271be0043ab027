package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"mcptest/internal/process/pipe"
	"mcptest/internal/process/tail"
)

var errRunning = errors.New("the process still runs")

// stdinPipe is the owner's end of standard input.
type stdinPipe struct {
	f    *os.File
	once sync.Once
}

func (s *stdinPipe) Write(p []byte) (int, error) { return s.f.Write(p) }

// SetWriteDeadline limits how long a Write waits for the reader.
func (s *stdinPipe) SetWriteDeadline(t time.Time) error { return s.f.SetWriteDeadline(t) }

// Close closes the input. It interrupts a Write that waits for the reader.
func (s *stdinPipe) Close() error {
	s.once.Do(func() { s.f.Close() })
	return nil
}

func (s *stdinPipe) copyFrom(r io.Reader) {
	_, _ = io.Copy(s.f, r) // a program need not read its input
	s.Close()
}

// stream reads one captured output until its end.
type stream struct {
	f     *os.File
	in    *pipe.Source
	tail  *tail.Tail
	lines *tail.Splitter
	copy  io.Writer // may be nil
	log   bool      // a followed file, not a pipe
	ended chan struct{}
}

func newStream(f *os.File, kept *tail.Tail, onLine func(string)) *stream {
	st := &stream{f: f, in: pipe.NewSource(f), tail: kept, ended: make(chan struct{})}
	kept.Follow(func() (written int64) {
		st.in.Unread(func(n int) { written = kept.Total() + int64(n) })
		return written
	})
	if onLine != nil {
		st.lines = &tail.Splitter{Emit: func(l []byte) { onLine(string(l)) }}
	}
	return st
}

// pump drains the stream until the end of the pipe, or until the file is closed.
func (st *stream) pump(exited <-chan struct{}) {
	defer close(st.ended)
	defer st.f.Close()
	buf := make([]byte, 4<<10)
	keep := func(b []byte) { _, _ = st.tail.Write(b) }
	for last := false; ; {
		n, err := st.in.Read(buf, keep)
		if n > 0 {
			if st.copy != nil {
				_, _ = st.copy.Write(buf[:n])
			}
			if st.lines != nil {
				st.lines.Feed(buf[:n])
			}
		}
		if n == len(buf) && n < 32<<10 {
			buf = make([]byte, 32<<10) // most programs write little
		}
		if st.log && errors.Is(err, io.EOF) && !last {
			last = st.idle(exited)
			continue
		}
		if err != nil {
			break
		}
	}
	if st.lines != nil {
		st.lines.Flush()
	}
	st.tail.Finish()
}

// logPoll is the interval at which a log file is checked for more data.
const logPoll = 25 * time.Millisecond

// idle waits for more data in a followed file; it reports whether the writer has
// exited.
func (st *stream) idle(exited <-chan struct{}) bool {
	timer := time.NewTimer(logPoll)
	defer timer.Stop()
	select {
	case <-exited:
		return true
	case <-timer.C:
		return false
	}
}

// giveUp stops reading a stream that another process holds open.
func (st *stream) giveUp() {
	st.f.Close()
	waitFor(context.Background(), st.ended, WaitDelay) // its line callback may hang
}

// openLog redirects the output to a file and follows it.
func (p *Process) openLog(files *startFiles) error {
	if p.spec.PipeStdout {
		return errors.New("LogFile and PipeStdout exclude each other")
	}
	name := p.spec.LogFile
	w, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("open the log file: %w", err)
	}
	files.child = append(files.child, w)
	r, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("follow the log file: %w", err)
	}
	files.own = append(files.own, r)
	if _, err := r.Seek(0, io.SeekEnd); err != nil {
		return fmt.Errorf("follow the log file: %w", err)
	}
	p.cmd.Stdout, p.cmd.Stderr = w, w
	p.out = tail.New(p.spec.OutputLimit)
	p.err = p.out
	st := newStream(r, p.out, p.spec.OnStderr)
	st.log = true
	p.streams = []*stream{st}
	return nil
}

// wire is the owner's end of standard output. After expire it returns the data in the
// pipe and then io.EOF, even if other processes hold the other end.
type wire struct {
	f     *os.File
	poll  func()        // waits briefly for data
	over  bool          // the reader has reached the end; only used by the reader
	ended chan struct{} // closed then

	mu      sync.Mutex
	expired bool
}

func (w *wire) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if w.over {
		return 0, io.EOF
	}
	w.poll()
	n, err := w.f.Read(p)
	if err == nil {
		return n, nil
	}
	w.mu.Lock()
	expired := w.expired
	w.mu.Unlock()
	if !expired && errors.Is(err, os.ErrDeadlineExceeded) {
		return n, err // the reader's own deadline
	}
	if expired && !errors.Is(err, io.EOF) {
		if n, ok := readNow(w.f, p); ok {
			return n, nil
		}
		err = io.EOF
	}
	w.finish()
	if !errors.Is(err, io.EOF) {
		err = fmt.Errorf("read the output of the process: %w", err)
	}
	return n, err
}

// SetReadDeadline lets the reader interrupt a read.
func (w *wire) SetReadDeadline(t time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.expired {
		return nil
	}
	return w.f.SetReadDeadline(t)
}

// finish is called by the reader at the end.
func (w *wire) finish() {
	w.over = true
	w.f.Close()
	close(w.ended)
}

// expire makes a Read that waits return; see readNow for the remaining data.
func (w *wire) expire() {
	w.mu.Lock()
	w.expired = true
	w.mu.Unlock()
	interruptRead(w.f)
}
