package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"mcptest/internal/aql"
	"mcptest/internal/jsonv"
)

// A journal is a file of JSON lines, one for each thing a live run is about
// to create. It is there before the first create is sent and gone when the
// run has removed everything, so what a killed run left can be found.

type journalLine struct {
	Target    string      `json:"target,omitempty"` // first line only
	Run       string      `json:"run,omitempty"`
	Intend    string      `json:"intend,omitempty"` // operation
	Marker    string      `json:"marker,omitempty"`
	Created   string      `json:"created,omitempty"` // operation
	Deleted   string      `json:"deleted,omitempty"` // parameter
	Parameter string      `json:"parameter,omitempty"`
	ID        jsonv.Value `json:"id,omitzero"`
	With      jsonv.Value `json:"with,omitzero"` // what else names it
}

// journal is the journal of one run; the file is made with its first line.
type journal struct {
	name  string
	first journalLine
	f     *os.File
}

func newJournal(dir, target, run string) *journal {
	return &journal{name: filepath.Join(dir, run+".jsonl"), first: journalLine{Target: target, Run: run}}
}

// write appends a line and has it on the disk before it returns: the process
// may be killed in the next moment.
func (j *journal) write(l journalLine) error {
	if j.f == nil {
		if err := os.MkdirAll(filepath.Dir(j.name), 0o700); err != nil {
			return fmt.Errorf("make the folder for the journal: %w", err)
		}
		f, err := os.OpenFile(j.name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return fmt.Errorf("open the journal: %w", err)
		}
		j.f = f
		if err := j.write(j.first); err != nil {
			return err
		}
	}
	data, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	if _, err := j.f.Write(append(data, '\n')); err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	return nil
}

// Intend notes a create that is about to be sent.
func (j *journal) Intend(operation, marker string) error {
	return j.write(journalLine{Intend: operation, Marker: marker})
}

// Created notes what a create made.
func (j *journal) Created(operation, parameter string, id, with jsonv.Value) error {
	return j.write(journalLine{Created: operation, Parameter: parameter, ID: id, With: with})
}

// Deleted notes what was removed.
func (j *journal) Deleted(parameter string, id jsonv.Value) error {
	return j.write(journalLine{Deleted: parameter, ID: id})
}

// end closes the journal, and removes it when nothing is left.
func (j *journal) end(clean bool) {
	if j.f == nil {
		return
	}
	_ = j.f.Close()
	if clean {
		_ = os.Remove(j.name)
	}
}

// journals reads the journals of a folder that belong to a target. Lines
// that were cut short by a kill are passed over.
func journals(dir, target string) (left []aql.Left, files []string, err error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		return nil, nil, fmt.Errorf("look for journals: %w", err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			return nil, nil, fmt.Errorf("read the journal: %w", err)
		}
		if l, ok := readJournal(string(data), target); ok {
			left, files = append(left, l), append(files, name)
		}
	}
	return left, files, nil
}

func readJournal(data, target string) (aql.Left, bool) {
	var left aql.Left
	ours := false
	gone := map[string]bool{}
	var made []aql.LeftID
	lines := bufio.NewScanner(strings.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var l journalLine
		if json.Unmarshal(lines.Bytes(), &l) != nil {
			continue
		}
		switch {
		case l.Run != "":
			left.RunID, ours = l.Run, l.Target == target
		case l.Created != "":
			made = append(made, aql.LeftID{Operation: l.Created, ID: l.ID, With: l.With})
		case l.Deleted != "":
			gone[l.ID.String()] = true
		}
	}
	for _, m := range made {
		if !gone[m.ID.String()] {
			left.IDs = append(left.IDs, m)
		}
	}
	return left, ours
}
