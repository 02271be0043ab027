package vigil

import (
	"io"
	"os"
)

// Arg is the only argument of a guardian.
const Arg = "__guardian"

// goodbye is the line after which there is nothing to do.
const goodbye = "bye"

// told is what was read before the rest of the program came up; nil when this
// process is no guardian. Setting it may take as long as the runner lives, and
// may end the process.
var told = attend()

func attend() io.Reader {
	if !waits || len(os.Args) != 2 || os.Args[1] != Arg {
		return nil
	}
	ignoreSignals()
	text, bye := listen(os.Stdin)
	if bye {
		os.Exit(0)
	}
	return &text
}

// Told returns what the guardian has to read: what was told to it before the
// rest of the program came up, or else in.
func Told(in io.Reader) io.Reader {
	if told == nil {
		return in
	}
	return told
}

// listen reads until the goodbye or the end; an error is an end.
func listen(in io.Reader) (all words, bye bool) {
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

// words are what was told. They are read once. (bytes and strings would wait
// for other packages first.)
type words []byte

// lastLine is the last line that is complete and nothing follows, without its end.
func (w words) lastLine() string {
	end := len(w) - 1
	if end < 0 || w[end] != '\n' {
		return ""
	}
	from := end
	for from > 0 && w[from-1] != '\n' {
		from--
	}
	return string(w[from:end])
}

// Read hands out the words, then io.EOF.
func (w *words) Read(p []byte) (int, error) {
	if len(*w) == 0 {
		return 0, io.EOF
	}
	n := copy(p, *w)
	*w = (*w)[n:]
	return n, nil
}
