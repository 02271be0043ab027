package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mcptest/internal/cmdutil"
	"mcptest/internal/display"
	"mcptest/internal/osfile"
	"mcptest/internal/proc"
	"mcptest/internal/run"
	"mcptest/internal/suite"
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
	Files        []run.SavedState `json:"files"`
	EnvFiles     []string         `json:"env_files,omitempty"`
	Vars         []string         `json:"vars,omitempty"`
	AllowOutside bool             `json:"allow_outside,omitempty"`
	// Env are the variables of the environment, or of .env, that the suites
	// read, with their values; Unset are those they asked for and that were
	// not set. Teardown must find the world that setup made.
	Env   map[string]string `json:"env,omitempty"`
	Unset []string          `json:"unset,omitempty"`
	// Groups are process groups with their start times, and the mark that all
	// their processes carry.
	proc.Snapshot

	dir    string // absolute
	lock   *upLock
	handed bool
	damage error // why the state file can't be used; only the snapshot is known then
}

func upPath(dir string) string { return filepath.Join(dir, "state.json") }

// processesPath is where the processes alone are written down a second time,
// for a state file that was damaged or is of another version.
func processesPath(dir string) string { return filepath.Join(dir, "processes.json") }

// worldIsUp tells whether the current folder has a world that was left running.
func worldIsUp() bool {
	_, err := os.Stat(upPath(upDir))
	return err == nil
}

// newUpState makes the folder and takes its lock, which it has until finish. A
// world that is up already must be ended first.
func newUpState(f *runFlags, suites []*suite.Suite) (*upState, error) {
	dir, err := filepath.Abs(upDir)
	if err != nil {
		return nil, fail(exitInvalid, "find the current folder: %v", err)
	}
	lock, err := lockUp(dir, "mcptest run --setup-only", func() error { return makeUpDir(dir) })
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(upPath(dir)); err == nil {
		lock.release()
		return nil, fail(exitInvalid, "an environment is already running here (%s): stop it with mcptest down", upPath(upDir))
	}
	st := &upState{Schema: upSchema, Started: time.Now().UTC(), Vars: f.vars, AllowOutside: f.allowOutside, dir: dir, lock: lock}
	st.sweepLogs()
	for _, su := range suites {
		st.remember(su)
	}
	for _, file := range f.envFiles {
		abs, err := filepath.Abs(file)
		if err != nil {
			lock.release()
			return nil, fail(exitInvalid, "--env-file: %v", err)
		}
		st.EnvFiles = append(st.EnvFiles, abs)
	}
	return st, nil
}

func makeUpDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	_, err := stateFolder(filepath.Dir(filepath.Dir(dir)))
	return err
}

// remember keeps what a suite took from the environment.
func (st *upState) remember(su *suite.Suite) {
	for _, v := range su.EnvRead {
		if st.Env == nil {
			st.Env = map[string]string{}
		}
		st.Env[v.Name] = v.Value
	}
	for _, name := range su.EnvMissing {
		if !slices.Contains(st.Unset, name) {
			st.Unset = append(st.Unset, name)
		}
	}
}

// environ is env as it was for the suites' variables when the world was brought
// up.
func (st *upState) environ(env []string) []string {
	out := slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		_, known := st.Env[name]
		return known || slices.Contains(st.Unset, name)
	})
	for _, name := range slices.Sorted(maps.Keys(st.Env)) {
		out = append(out, name+"="+st.Env[name])
	}
	return out
}

// sweepLogs removes what a run that was killed left in the folder.
func (st *upState) sweepLogs() {
	for _, pattern := range []string{"step-*.log", "new-*.json", "processes.json"} {
		list, _ := filepath.Glob(filepath.Join(st.dir, pattern))
		for _, name := range list {
			_ = os.Remove(name)
		}
	}
}

// handOver writes the state file and lets go of every process. When it can't
// be written the processes are ended.
func (st *upState) handOver(files []run.SavedState, w *cmdutil.World, dropDir func()) error {
	st.Files, st.Snapshot = files, w.Ledger.Snapshot()
	if err := st.write(); err != nil {
		return fmt.Errorf("write the state file: %w", err)
	}
	// Whoever is killed from here on leaves a world that is written down.
	dropDir()
	w.Ledger.Release()
	st.handed = true
	return nil
}

func (st *upState) write() error {
	if err := writePrivate(processesPath(st.dir), st.Snapshot); err != nil {
		return err
	}
	return writePrivate(upPath(st.dir), st)
}

// writePrivate writes a value as a JSON file that only its owner can read, all of
// it or nothing.
func writePrivate(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return osfile.Replace(path, append(data, '\n'), 0o600)
}

// finish tells what is up, or removes the folder when nothing is, and gives the
// lock back.
func (st *upState) finish(s Streams) {
	defer st.lock.release()
	if !st.handed {
		_ = st.remove()
		return
	}
	fmt.Fprintf(s.Err, "mcptest: up: %s left running; stop it with mcptest down\n", display.Count(len(st.Groups), "process group"))
	for _, g := range st.Groups {
		fmt.Fprintf(s.Err, "  pid %d %s\n", g.Pid, term.Escape(g.Name))
	}
}

// remove takes the folder away, and the one above when nothing else is in it.
func (st *upState) remove() error {
	err := proc.RemoveDir(st.dir)
	if err != nil {
		st.lock.release() // where an open file can't be removed
		err = proc.RemoveDir(st.dir)
	}
	return err
}

// openUpState reads the state file of the folder under its lock, which the
// caller gives back. With no world up the error is errNothingUp; what a killed
// --setup-only left in the folder is removed then.
func openUpState(dir string) (*upState, error) {
	lock, err := lockUp(dir, "mcptest down", nil)
	if err != nil {
		return nil, err
	}
	st := &upState{dir: dir, lock: lock}
	if err := st.read(); err != nil {
		if errors.Is(err, errNothingUp) {
			_ = st.remove()
		}
		lock.release()
		return nil, err
	}
	return st, nil
}

func (st *upState) read() error {
	data, err := os.ReadFile(upPath(st.dir))
	if errors.Is(err, fs.ErrNotExist) {
		return errNothingUp
	}
	if err != nil {
		return fail(exitInvalid, "read the state file: %v", err)
	}
	whole := *st
	if st.damage = json.Unmarshal(data, &whole); st.damage == nil && whole.Schema != upSchema {
		st.damage = fmt.Errorf("it was written by another version (%q)", whole.Schema)
	}
	if st.damage != nil {
		return st.rescue()
	}
	*st = whole
	return nil
}

// rescue reads what is needed to end the processes when the state file can't be
// used.
func (st *upState) rescue() error {
	data, err := os.ReadFile(processesPath(st.dir))
	if err == nil {
		err = json.Unmarshal(data, &st.Snapshot)
	}
	if err == nil && len(st.Groups) == 0 && st.Mark == "" {
		err = errors.New("it lists no processes")
	}
	if err != nil {
		return fail(exitInvalid, "%s can't be used (%v), nor can %s (%v): stop the processes yourself (on Linux `grep -lz ^MCPTEST_RUN= /proc/[0-9]*/environ` lists the processes of every run), then remove the directory %s",
			upPath(upDir), st.damage, processesPath(upDir), err, upDir)
	}
	return nil
}
