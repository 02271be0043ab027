package secret

import (
	"bytes"
	"io"
	"sync"
)

// Writer returns a writer that redacts its input, for debug logs and other streams
// outside the events. It holds text back until its line is complete, and a private
// key until its end; Close writes the rest. It does not close w. It is safe for
// concurrent use.
func (r *Redactor) Writer(w io.Writer) io.WriteCloser { return &redactingWriter{r: r, w: w} }

type redactingWriter struct {
	mu      sync.Mutex
	r       *Redactor
	w       io.Writer
	pending []byte
	cut     bool // held begins within a line
}

// maxHeld limits the text that is held back for an incomplete line or key.
const maxHeld = 1 << 20

func (w *redactingWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pending = append(w.pending, p...)
	end := bytes.LastIndexByte(w.pending, '\n') + 1
	if key := openKey(string(w.pending[:end])); key >= 0 {
		end = key
	}
	mask := w.r.String
	if len(w.pending) > maxHeld {
		end = len(w.pending)
	}
	if end == 0 {
		return len(p), nil
	}
	if w.cut || w.pending[end-1] != '\n' {
		mask = w.r.Cut
	}
	w.cut = w.pending[end-1] != '\n'
	out := mask(string(w.pending[:end]))
	w.pending = append(w.pending[:0], w.pending[end:]...)
	if _, err := io.WriteString(w.w, out); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (w *redactingWriter) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.pending) == 0 {
		return nil
	}
	_, err := io.WriteString(w.w, w.r.Cut(string(w.pending)))
	w.pending = nil
	return err
}
