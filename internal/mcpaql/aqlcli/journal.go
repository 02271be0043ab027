package aqlcli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcptest/internal/base/osfile"
	"mcptest/internal/mcpaql/live"
	"mcptest/internal/mcpaql/live/guard"
)

// A journal is a file of JSON lines, one for each item that a live run is about to
// create. It exists before the first create is sent and is removed when the run has
// removed everything, so that the items of a killed run can be found.

type journalLine struct {
	Target string `json:"target,omitempty"` // first line only
	Run    string `json:"run,omitempty"`
	guard.JournalEntry
}

// journal is the journal of one run. The file is locked during the run.
type journal struct {
	name  string
	first journalLine
	f     *os.File
}

// open creates the file and locks it; the lock marks the run as active.
func (j *journal) open() error {
	if err := os.MkdirAll(filepath.Dir(j.name), 0o700); err != nil {
		return fmt.Errorf("make the folder for the journal: %w", err)
	}
	f, err := os.OpenFile(j.name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the journal: %w", err)
	}
	j.f = f
	// If a file system has no locks, the run continues without one.
	_, _ = osfile.TryLock(f)
	return j.write(j.first)
}

// write appends a line without a buffer, because the process may be killed at any moment.
func (j *journal) write(l journalLine) error {
	if j.f == nil {
		if err := j.open(); err != nil {
			return err
		}
	}
	data, err := json.Marshal(l)
	if err == nil {
		_, err = j.f.Write(append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	return nil
}

// add records an entry.
func (j *journal) add(e guard.JournalEntry) error { return j.write(journalLine{JournalEntry: e}) }

// end closes the journal, and removes it if nothing is left.
func (j *journal) end(clean bool) {
	if j.f == nil {
		return
	}
	_ = j.f.Close()
	if clean {
		_ = os.Remove(j.name)
	}
}

// foundJournals holds the journals of a folder, sorted by owner.
type foundJournals struct {
	left    []live.Left
	going   []string   // of active runs
	foreign []string   // files that are not journals
	others  int        // of other adapters
	locks   []*os.File // of left
}

// close releases the locks.
func (j *foundJournals) close() {
	for _, f := range j.locks {
		_ = f.Close()
	}
}

// readJournals reads the journals of a folder and locks those that belong to a target.
// Lines that were truncated by a kill are skipped.
func readJournals(dir, target string) (*foundJournals, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		return nil, fmt.Errorf("look for journals: %w", err)
	}
	found := &foundJournals{}
	for _, name := range names {
		if err := found.add(name, target); err != nil && !errors.Is(err, fs.ErrNotExist) {
			found.close()
			return nil, fmt.Errorf("read the journal: %w", err)
		}
	}
	return found, nil
}

func (j *foundJournals) add(name, target string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	held, err := osfile.TryLock(f)
	going := err == nil && !held
	data, err := io.ReadAll(f)
	if err != nil {
		_ = f.Close()
		return err
	}
	l, ours := readJournal(string(data), target)
	switch {
	case l.RunID == "":
		j.foreign = append(j.foreign, name)
	case !ours:
		j.others++
	case going:
		j.going = append(j.going, l.RunID)
	default:
		j.left, j.locks = append(j.left, l), append(j.locks, f)
		return nil
	}
	return f.Close()
}

func readJournal(data, target string) (live.Left, bool) {
	var left live.Left
	ours := false
	gone := map[string]bool{}
	var made []guard.JournalEntry
	for line := range strings.Lines(data) {
		var l journalLine
		if json.Unmarshal([]byte(line), &l) != nil {
			continue
		}
		switch {
		case l.Run != "":
			left.RunID, ours = l.Run, l.Target == target
		case l.Created != "":
			made = append(made, l.JournalEntry)
		case l.Deleted != "":
			gone[l.ID.String()] = true
		}
	}
	left.IDs = slices.DeleteFunc(made, func(m guard.JournalEntry) bool { return gone[m.ID.String()] })
	return left, ours
}
