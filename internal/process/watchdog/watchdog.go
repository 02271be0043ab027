package watchdog

import (
	"io"
	"os"
)

// Arg is the only argument of a watchdog.
const Arg = "__watchdog"

// goodbye is the line after which the watchdog has nothing to do.
const goodbye = "bye"

// early is what the runner sent until its end; nil if this process is not a
// watchdog. Its initialization takes as long as the runner lives, and may end
// the process.
var early = waitForRunner()

func waitForRunner() io.Reader {
	if !supported || len(os.Args) != 2 || os.Args[1] != Arg {
		return nil
	}
	ignoreSignals()
	text, bye := listen(os.Stdin)
	if bye {
		os.Exit(0)
	}
	return &text
}

// Input returns what the runner has sent to this watchdog: what was read before
// the other packages were initialized, otherwise in.
func Input(in io.Reader) io.Reader {
	if early == nil {
		return in
	}
	return early
}

// listen reads until the goodbye or the end; an error is an end.
func listen(in io.Reader) (all message, bye bool) {
	buf := make([]byte, 4<<10)
	for {
		n, err := in.Read(buf)
		all = append(all, buf[:n]...)
		if all.lastLine() == goodbye {
			return nil, true
		}
		if err != nil {
			return all, false
		}
	}
}

// message is a buffer to read from. Packages bytes and strings are not used:
// they would have to be initialized first.
type message []byte

// lastLine is the last line without its end, "" if the text ends within a line.
func (m message) lastLine() string {
	end := len(m) - 1
	if end < 0 || m[end] != '\n' {
		return ""
	}
	from := end
	for from > 0 && m[from-1] != '\n' {
		from--
	}
	return string(m[from:end])
}

func (m *message) Read(p []byte) (int, error) {
	if len(*m) == 0 {
		return 0, io.EOF
	}
	n := copy(p, *m)
	*m = (*m)[n:]
	return n, nil
}
