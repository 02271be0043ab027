package snapshot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mcptest/internal/jsonv"
	"mcptest/internal/osfile"
	"mcptest/internal/source"
)

// Saved is the result of Save.
type Saved struct {
	New, Changed, Removed int
	// Withheld counts values that were not stored because their tests failed.
	Withheld int
	Stale    []Stale // what was not removed
}

// lockTime is how long another run may take to write the file.
const lockTime = 10 * time.Second

// Save writes the file if something changed. all has the names of all tests of
// the suite if all of them were selected, and is nil otherwise. clean says that
// the whole run passed; otherwise nothing is removed.
func (r *Run) Save(all map[string]bool, clean bool) (s Saved, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s.Withheld, s.Stale = r.withheld, r.stale(all)
	remove := r.mode == Update && clean && len(s.Stale) > 0
	if len(r.set) == 0 && !remove {
		return s, nil
	}
	unlock, err := r.file.lock()
	if err != nil {
		return s, err
	}
	defer unlock()
	// Another run may have changed it.
	next := *r.file
	if diags := next.read(); diags.HasErrors() {
		return s, fmt.Errorf("it has become unreadable: %s", diags[0].Msg)
	}
	for test, values := range r.set {
		for name, v := range values {
			if _, known := next.tests[test][name]; !known {
				s.New++
			} else if r.mode == Add {
				continue // the other run stored it
			} else {
				s.Changed++
			}
			next.put(test, name, v)
		}
	}
	if remove {
		s.Removed, s.Stale = len(s.Stale), nil
		for _, old := range r.stale(all) {
			next.drop(old.Test, old.Name)
		}
	}
	return s, next.write()
}

func (f *File) put(test, name string, v jsonv.Value) {
	if f.tests[test] == nil {
		f.tests[test] = map[string]entry{}
	}
	f.tests[test][name] = entry{value: v}
}

func (f *File) drop(test, name string) {
	delete(f.tests[test], name)
	if len(f.tests[test]) == 0 {
		delete(f.tests, test)
	}
}

// write replaces the file, or removes it if it has no snapshots any more.
func (f *File) write() error {
	if len(f.tests) == 0 {
		return os.Remove(f.Path)
	}
	data := f.bytes()
	if len(data) > source.MaxSize {
		return fmt.Errorf("it would have %d bytes, more than %d: use smaller targets or ignore", len(data), source.MaxSize)
	}
	if had, err := os.ReadFile(f.Path); err == nil && bytes.Equal(bytes.ReplaceAll(had, []byte("\r\n"), []byte("\n")), data) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o777); err != nil {
		return err
	}
	return osfile.Replace(f.Path, data, 0o666)
}

// lock waits until no other run writes the file. The lock is outside of the
// folder of snapshots, because that is in version control.
func (f *File) lock() (unlock func(), err error) {
	ctx, cancel := context.WithTimeout(context.Background(), lockTime)
	defer cancel()
	sum := sha256.Sum256([]byte(osfile.Place(f.Path)))
	unlock, err = osfile.Lock(ctx, filepath.Join(os.TempDir(), fmt.Sprintf("mcptest-%d-%x.lock", os.Getuid(), sum[:8])))
	if errors.Is(err, os.ErrPermission) || errors.Is(err, os.ErrNotExist) {
		return func() {}, nil // a file of another user, or no such folder
	}
	return unlock, err
}

// Note describes the changes to the file called name; "" if there were none.
func (s Saved) Note(name string) string {
	var parts []string
	for _, p := range []struct {
		n    int
		word string
	}{{s.New, "new"}, {s.Changed, "updated"}, {s.Removed, "removed"}, {s.Withheld, "not written because the test did not pass"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.word))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "snapshots in " + name + ": " + strings.Join(parts, ", ")
}
