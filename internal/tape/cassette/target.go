package cassette

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"

	"mcptest/internal/base/osfile"
)

// PartialSuffix is added to the name of a cassette while it is recorded.
const PartialSuffix = ".partial"

// ErrBusy is the reason why a cassette is not created that another process records.
var ErrBusy = errors.New("another process is recording to this file: use another name")

// openPartial opens the file in which the cassette at path is recorded, and locks it.
// It takes over a file that a killed recorder has left.
func openPartial(path string) (*os.File, error) {
	partial := path + PartialSuffix
	for {
		if err := CheckReplaceable(partial); err != nil {
			return nil, err
		}
		f, err := os.OpenFile(partial, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return nil, err
		}
		held, err := osfile.TryLock(f)
		switch {
		case err == nil && !held: // file systems without locks return an error
			return nil, errors.Join(fmt.Errorf("%s: %w", path, ErrBusy), f.Close())
		case !isSamePlace(f): // its recorder has renamed it in the meantime
			_ = f.Close()
			continue
		}
		if err := errors.Join(f.Truncate(0), f.Chmod(0o600)); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		return f, nil
	}
}

// isSamePlace reports whether the name of an open file still belongs to it.
func isSamePlace(f *os.File) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := os.Lstat(f.Name())
	return err == nil && os.SameFile(a, b)
}

// Interrupt makes Close leave an existing cassette unchanged: the recording is shorter
// than intended.
func (w *Writer) Interrupt() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.interrupted = true
}

// ExplainUnsaved returns after Close why the cassette was not written; "" if it was.
func (w *Writer) ExplainUnsaved() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.unsaved
}

// finish closes the recording. It becomes the cassette unless an existing one would be
// replaced by a recording without responses or of an interrupted run.
func (w *Writer) finish() error {
	partial := w.f.Name()
	if !isSamePlace(w.f) {
		return errors.Join(fmt.Errorf("%s was removed or replaced during the recording", partial), w.f.Close())
	}
	if err := CheckReplaceable(w.path); err != nil {
		return errors.Join(fmt.Errorf("%w; the recording is in %s", err, partial), w.f.Close())
	}
	info, err := os.Lstat(w.path)
	unchanged := ""
	if err == nil && info.Size() > 0 {
		unchanged = fmt.Sprintf(": %s is unchanged", w.path)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, w.f.Close())
	}
	switch {
	case w.frames == 0 || unchanged != "" && w.messages == 0:
		w.unsaved = "nothing was recorded" + unchanged
		return w.remove(partial)
	case unchanged != "" && !w.answered:
		w.unsaved = fmt.Sprintf("no response was recorded%s, and the recording is in %s", unchanged, partial)
	case unchanged != "" && w.interrupted:
		w.unsaved = fmt.Sprintf("the recording was interrupted%s, and the recording is in %s", unchanged, partial)
	default:
		return w.rename(partial)
	}
	return w.f.Close()
}

// remove removes the partial file, where possible before it is unlocked.
func (w *Writer) remove(partial string) error {
	if runtime.GOOS == "windows" { // open files cannot be removed
		return errors.Join(w.f.Close(), os.Remove(partial))
	}
	return errors.Join(os.Remove(partial), w.f.Close())
}

// rename renames the partial file, where possible before it is unlocked.
func (w *Writer) rename(partial string) error {
	if runtime.GOOS == "windows" { // open files cannot be renamed
		if err := w.f.Close(); err != nil {
			return err
		}
		return os.Rename(partial, w.path)
	}
	return errors.Join(os.Rename(partial, w.path), w.f.Close())
}
