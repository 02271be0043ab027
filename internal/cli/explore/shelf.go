package explore

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// shelf is the folder in the user's cache in which the runs of pages keep their records, one
// for each folder in which pages were started.
type shelf struct{ dir string } // "": there is none

// keptRuns is how many records are kept.
const keptRuns = 20

func newShelf() *shelf {
	cache, err := os.UserCacheDir()
	if err != nil {
		return &shelf{}
	}
	sum := sha256.Sum256([]byte(getwd()))
	return &shelf{filepath.Join(cache, "mcptest", "ui", hex.EncodeToString(sum[:8]))}
}

// discarded is the record of a run that can't be kept.
type discarded struct{ io.Writer }

func (discarded) Close() error { return nil }

// create returns the file of the record of a new run, and removes the oldest ones. A run
// whose record can't be kept runs without one.
func (s *shelf) create() io.WriteCloser {
	none := discarded{io.Discard}
	if s.dir == "" || os.MkdirAll(s.dir, 0o700) != nil {
		return none
	}
	s.tidy()
	all := s.listFiles()
	for _, old := range all[:max(0, len(all)-keptRuns+1)] {
		_ = os.Remove(old)
	}
	name := time.Now().UTC().Format("20060102-150405.000000000") + ".ndjson"
	f, err := os.OpenFile(filepath.Join(s.dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return none
	}
	return f
}

// unused is how long the records of a folder stay in which no page runs tests any more.
const unused = 90 * 24 * time.Hour

// tidy removes the records of folders that are not used any more.
func (s *shelf) tidy() {
	parent := filepath.Dir(s.dir)
	folders, _ := os.ReadDir(parent) // it is read again with the next run
	for _, f := range folders {
		info, err := f.Info()
		if err == nil && f.IsDir() && time.Since(info.ModTime()) > unused {
			_ = os.RemoveAll(filepath.Join(parent, f.Name()))
		}
	}
}

// listFiles returns the records, the oldest first.
func (s *shelf) listFiles() []string {
	if s.dir == "" {
		return nil
	}
	all, _ := filepath.Glob(filepath.Join(s.dir, "*.ndjson")) // the pattern is valid
	slices.Sort(all)
	return all
}
