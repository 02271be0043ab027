package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"mcptest/internal/proc"
	"mcptest/internal/run"
	"mcptest/internal/term"
)

// hereDir is the folder in which what one command leaves for another is kept.
const hereDir = ".mcptest"

// upDir is the folder, below where the command was given, that a world left
// running is written down in: its state file and the logs of its background
// steps. `mcptest down` removes it.
const upDir = hereDir + "/up"

const upSchema = "mcptest.up/v1"

// upState is a world that was brought up and left running. It is kept in a
// file only its owner can read: what hooks handed over may hold credentials.
type upState struct {
	Schema  string    `json:"schema"`
	Started time.Time `json:"started"`
	// The files whose beforeAll and setup ran, in this order, and how they
	// were read.
	Files        []run.Kept `json:"files"`
	EnvFiles     []string   `json:"env_files,omitempty"`
	Vars         []string   `json:"vars,omitempty"`
	AllowOutside bool       `json:"allow_outside,omitempty"`
	// Groups are process groups with their start times.
	Groups []proc.Ref `json:"groups"`

	dir    string // absolute
	handed bool
}

func upPath(dir string) string { return filepath.Join(dir, "state.json") }

// newUpState makes the folder. A world that is up already must be ended first.
func newUpState(f *runFlags) (*upState, error) {
	dir, err := filepath.Abs(upDir)
	if err != nil {
		return nil, fail(exitInvalid, "find the current folder: %v", err)
	}
	if _, err := os.Stat(upPath(dir)); err == nil {
		return nil, fail(exitInvalid, "a world is up here already (%s): end it with: mcptest down", upPath(upDir))
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fail(exitInvalid, "make the folder for --setup-only: %v", err)
	}
	// What is in here is nobody's to commit.
	if err := os.WriteFile(filepath.Join(filepath.Dir(dir), ".gitignore"), []byte("*\n"), 0o600); err != nil {
		return nil, fail(exitInvalid, "make the folder for --setup-only: %v", err)
	}
	st := &upState{Schema: upSchema, Started: time.Now().UTC(), Vars: f.vars, AllowOutside: f.allowOutside, dir: dir}
	for _, file := range f.envFiles {
		abs, err := filepath.Abs(file)
		if err != nil {
			return nil, fail(exitInvalid, "--env-file: %v", err)
		}
		st.EnvFiles = append(st.EnvFiles, abs)
	}
	return st, nil
}

// handOver writes the state file and lets go of every process. When it can't
// be written the processes are ended.
func (st *upState) handOver(files []run.Kept, w *world) error {
	snap := w.ledger.Release()
	st.Files, st.Groups = files, snap.Groups
	if err := st.write(); err != nil {
		ctx, cancel := cleanupContext()
		defer cancel()
		snap.Kill(ctx, proc.Grace{})
		return fmt.Errorf("write the state file: %w", err)
	}
	st.handed = true
	return nil
}

func (st *upState) write() error {
	data, err := json.MarshalIndent(st, "", "  ")
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(st.dir, "state-*.json")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(append(data, '\n'))
	if err := errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), upPath(st.dir))
}

// finish tells what is up, or removes the folder when nothing is.
func (st *upState) finish(s Streams) {
	if !st.handed {
		_ = st.remove()
		return
	}
	fmt.Fprintf(s.Err, "mcptest: up: %s left running; end it with: mcptest down\n", plural(len(st.Groups), "process group"))
	for _, g := range st.Groups {
		fmt.Fprintf(s.Err, "  pid %d %s\n", g.Pid, term.Escape(g.Name))
	}
}

// remove takes the folder away, and the one above when nothing else is in it.
func (st *upState) remove() error {
	if err := os.RemoveAll(st.dir); err != nil {
		return err
	}
	above := filepath.Dir(st.dir)
	if left, err := os.ReadDir(above); err == nil && len(left) == 1 && left[0].Name() == ".gitignore" {
		return os.RemoveAll(above)
	}
	return nil
}

// readUpState reads the state file of the folder; nil when there is none.
func readUpState(dir string) (*upState, error) {
	data, err := os.ReadFile(upPath(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fail(exitInvalid, "read the state file: %v", err)
	}
	st := &upState{dir: dir}
	if err := json.Unmarshal(data, st); err != nil {
		return nil, fail(exitInvalid, "%s is no state file: %v; end the processes it names by hand and remove it", upPath(dir), err)
	}
	if st.Schema != upSchema {
		return nil, fail(exitInvalid, "%s is of another version (%q); end the processes it names by hand and remove it", upPath(dir), st.Schema)
	}
	return st, nil
}
