package watch

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Times of the debouncing: one save is several events, and a change of branch
// changes many files.
const (
	quiet = 40 * time.Millisecond  // without an event, after the last one
	most  = 500 * time.Millisecond // after the first event
)

// Files watches files for changes of their content.
type Files struct {
	add     func(dir string) error
	changed chan struct{} // has an element if files may differ

	mu    sync.Mutex
	dirs  map[string]bool
	known map[string]state // by absolute path
}

// state identifies the content of a file; the zero value means that there is none.
type state struct {
	modified time.Time
	size     int64
	sum      [sha256.Size]byte
}

// NewFiles returns a watcher of no files. stop ends it.
func NewFiles() (files *Files, stop func(), err error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, nil, fmt.Errorf("watch files: %w", err)
	}
	return newFiles(w.Events, w.Add), func() { _ = w.Close() }, nil
}

// newFiles returns a watcher that gets events until the channel is closed.
func newFiles(events <-chan fsnotify.Event, add func(dir string) error) *Files {
	f := &Files{
		add:     add,
		changed: make(chan struct{}, 1),
		dirs:    map[string]bool{},
		known:   map[string]state{},
	}
	go f.debounce(events)
	return f
}

// debounce signals a change when no further event came for a while.
func (f *Files) debounce(events <-chan fsnotify.Event) {
	timer := time.NewTimer(0)
	<-timer.C
	var first time.Time
	for {
		select {
		case _, ok := <-events:
			if !ok {
				return
			}
			now := time.Now()
			if first.IsZero() {
				first = now
			}
			timer.Reset(max(0, min(quiet, most-now.Sub(first))))
		case <-timer.C:
			first = time.Time{}
			select {
			case f.changed <- struct{}{}:
			default:
			}
		}
	}
}

// Watch adds files, which need not exist. The content of a file that is watched
// already is not looked at again: it may have changed since it was read.
func (f *Files) Watch(paths ...string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, path := range paths {
		abs, err := filepath.Abs(path)
		if err != nil {
			return fmt.Errorf("watch %s: %w", path, err)
		}
		if _, ok := f.known[abs]; ok {
			continue
		}
		for _, name := range listPlaces(abs) {
			if dir := findExisting(filepath.Dir(name)); !f.dirs[dir] {
				if err := f.add(dir); err != nil {
					return fmt.Errorf("watch the folder %s: %w", dir, err)
				}
				f.dirs[dir] = true
			}
		}
		f.known[abs] = look(abs, state{})
	}
	return nil
}

// Folder watches a folder in which files are looked for: each event in it makes the
// [RunLoop] look again. It may have been replaced since it was added. One that can't be
// watched is an error of the files in it.
func (f *Files) Folder(dir string) { _ = f.add(dir) }

// Unknown returns the absolute paths of those files that were not added yet, and
// adds them.
func (f *Files) Unknown(paths []string) (unknown []string) {
	for _, path := range paths {
		abs, err := filepath.Abs(path)
		f.mu.Lock()
		_, known := f.known[abs]
		f.mu.Unlock()
		if err == nil && !known && f.Watch(abs) == nil {
			unknown = append(unknown, abs)
		}
	}
	return unknown
}

// listPlaces are the path and the file that it is a symbolic link to.
func listPlaces(path string) []string {
	if to, err := filepath.EvalSymlinks(path); err == nil && to != path {
		return []string{path, to}
	}
	return []string{path}
}

// findExisting is the folder, or the nearest one above it that exists.
func findExisting(dir string) string {
	for {
		if info, err := os.Stat(dir); err == nil && info.IsDir() || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// Accept remembers the current content of the files as known, and returns those
// that have changed since they were added or accepted. Without paths it does so
// for all files.
func (f *Files) Accept(paths ...string) (changed []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for path, had := range f.known {
		if len(paths) > 0 && !slices.Contains(paths, path) {
			continue
		}
		if had == (state{}) { // its folder may be new as well
			_ = f.add(findExisting(filepath.Dir(path)))
		}
		if now := look(path, had); now != had {
			f.known[path] = now
			if now.sum != had.sum {
				changed = append(changed, path)
			}
		}
	}
	slices.Sort(changed)
	return changed
}

// largest is the size up to which files are compared by content.
const largest = 4 << 20

// look returns the state of a file. A file with the same time and size is not read
// again.
func look(path string, had state) state {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return state{}
	}
	now := state{modified: info.ModTime(), size: info.Size(), sum: had.sum}
	if now == had {
		return had
	}
	data := []byte(now.modified.String()) // of a large file, such as a program
	if now.size <= largest {
		if data, err = os.ReadFile(path); err != nil {
			return state{}
		}
	}
	now.sum = sha256.Sum256(data)
	return now
}
