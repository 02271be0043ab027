package pipe_test

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"mcptest/internal/process/pipe"
)

// blocking returns both ends of a pipe or socket in blocking mode, like the standard
// input of a server.
func blocking(t *testing.T, socket bool) (r, w *os.File) {
	t.Helper()
	var fds [2]int
	err := unix.Pipe2(fds[:], unix.O_CLOEXEC)
	if socket {
		fds, err = unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	r, w = os.NewFile(uintptr(fds[0]), "r"), os.NewFile(uintptr(fds[1]), "w")
	t.Cleanup(func() { w.Close(); r.Close() })
	return r, w
}

// readAll sends each chunk that it reads.
func readAll(r io.Reader, to chan<- string) {
	defer close(to)
	buf := make([]byte, 64)
	for {
		n, err := r.Read(buf)
		if n > 0 {
			to <- string(buf[:n])
		}
		if err != nil {
			return
		}
	}
}

// parked waits until the goroutine in readAll waits in the poller. It fails if the
// goroutine blocks in a read.
func parked(t *testing.T) {
	t.Helper()
	for buf := make([]byte, 1<<20); ; runtime.Gosched() {
		for g := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
			if !strings.Contains(g, "pipe_test.readAll(") {
				continue
			}
			head, _, _ := strings.Cut(g, "\n")
			if strings.Contains(head, "[IO wait") {
				return
			}
			if strings.Contains(head, "[syscall") && strings.Contains(g, "syscall.read(") {
				t.Fatalf("the reader blocks in a system call: a garbage collection may have to wait for it\n%s", g)
			}
		}
	}
}

func TestPolledReaderDoesNotBlockInARead(t *testing.T) {
	for name, socket := range map[string]bool{"pipe": false, "socket": true} {
		t.Run(name, func(t *testing.T) {
			r, w := blocking(t, socket)
			got := make(chan string)
			go readAll(pipe.Polled(r), got)
			for _, text := range []string{"one\n", "two\n", "three\n"} {
				parked(t)
				if _, err := w.WriteString(text); err != nil {
					t.Fatal(err)
				}
				if s := <-got; s != text {
					t.Fatalf("read %q, want %q", s, text)
				}
			}
			parked(t)
			w.Close()
			if s, ok := <-got; ok {
				t.Errorf("read %q after the end", s)
			}
			flags, err := unix.FcntlInt(r.Fd(), unix.F_GETFL, 0)
			if err != nil || flags&unix.O_NONBLOCK != 0 {
				t.Errorf("flags %#x, %v: the file is no longer in blocking mode", flags, err)
			}
		})
	}
}

// Data is read whether it arrives before, during or after the reader's check.
func TestPolledReaderLosesNoData(t *testing.T) {
	r, w := blocking(t, false)
	back, forth := blocking(t, false)
	go func() {
		defer forth.Close()
		_, _ = io.Copy(forth, pipe.Polled(r))
	}()
	answers := pipe.Polled(back)
	buf := make([]byte, 8)
	for i := range 20_000 {
		if _, err := w.WriteString("x"); err != nil {
			t.Fatal(err)
		}
		if n, err := answers.Read(buf); n != 1 || err != nil {
			t.Fatalf("answer %d: %d bytes, %v", i, n, err)
		}
	}
	w.Close()
	if n, err := answers.Read(buf); n != 0 || err != io.EOF {
		t.Errorf("after the end: %d bytes, %v", n, err)
	}
}

func TestPolledReaderOfAClosedFileReturns(t *testing.T) {
	r, _ := blocking(t, false)
	polled := pipe.Polled(r)
	r.Close()
	if n, err := polled.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("%d bytes, %v", n, err)
	}
}

func TestPolledLeavesOtherReaders(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if r := pipe.Polled(f); r != io.Reader(f) {
		t.Errorf("a regular file became %T", r)
	}
	if text := strings.NewReader(""); pipe.Polled(text) != io.Reader(text) {
		t.Error("a reader that is not a file was replaced")
	}
}
