package detach

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

	"mcptest/internal/base/osfile"
	"mcptest/internal/process/proc"
	"mcptest/internal/run"
	"mcptest/internal/run/history"
	"mcptest/internal/spec/suite"
)

// Dir is the folder of the environment, below the current one: its state file
// and the logs of its background steps.
const Dir = history.Dir + "/up"

const schema = "mcptest.up/v1"

// State is an environment that was left running.
type State struct {
	Schema  string    `json:"schema"`
	Started time.Time `json:"started"`
	// Files are those whose beforeAll and setup ran, in this order.
	Files        []run.SavedState `json:"files"`
	EnvFiles     []string         `json:"env_files,omitempty"`
	Vars         []string         `json:"vars,omitempty"`
	AllowOutside bool             `json:"allow_outside,omitempty"`
	// Env are the variables of the environment, or of .env, that the suites
	// read; Unset are those that were not set. Teardown uses the same.
	Env   map[string]string `json:"env,omitempty"`
	Unset []string          `json:"unset,omitempty"`
	// The process groups with their start times, and the mark that all their
	// processes carry.
	proc.Snapshot

	Folder string `json:"-"` // Dir as an absolute path
	// Damage is why the state file can't be used; only the processes are known
	// then.
	Damage   error `json:"-"`
	Detached bool  `json:"-"` // the processes are left running

	lock *lock
}

// Options are how the suites of an environment were read.
type Options struct {
	EnvFiles, Vars []string
	AllowOutside   bool
}

func statePath(dir string) string { return filepath.Join(dir, "state.json") }

// processesPath is where the processes are stored a second time.
func processesPath(dir string) string { return filepath.Join(dir, "processes.json") }

// Running reports whether an environment was left running in the current folder.
func Running() bool {
	_, err := os.Stat(statePath(Dir))
	return err == nil
}

// Begin creates the folder of a new environment of the suites.
func Begin(suites []*suite.Suite, o Options) (*State, error) {
	dir, err := filepath.Abs(Dir)
	if err != nil {
		return nil, fmt.Errorf("find the current folder: %w", err)
	}
	st := &State{Schema: schema, Started: time.Now().UTC(), Vars: o.Vars, AllowOutside: o.AllowOutside, Folder: dir}
	for _, file := range o.EnvFiles {
		abs, err := filepath.Abs(file)
		if err != nil {
			return nil, fmt.Errorf("--env-file: %w", err)
		}
		st.EnvFiles = append(st.EnvFiles, abs)
	}
	if st.lock, err = takeLock(dir, "mcptest run --setup-only", func() error { return makeDir(dir) }); err != nil {
		return nil, err
	}
	if Running() {
		st.Release()
		return nil, fmt.Errorf("an environment is already running here (%s): stop it with mcptest down", statePath(Dir))
	}
	st.removeLeftovers()
	for _, su := range suites {
		st.remember(su)
	}
	return st, nil
}

// Release ends the lock.
func (st *State) Release() { st.lock.release() }

func makeDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	_, err := history.FindFolder(filepath.Dir(filepath.Dir(dir)))
	return err
}

// remember stores what a suite read from the environment.
func (st *State) remember(su *suite.Suite) {
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

// Environ returns env, in which the variables that the suites read have their values
// from setup.
func (st *State) Environ(env []string) []string {
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

// removeLeftovers removes what a killed run left in the folder.
func (st *State) removeLeftovers() {
	for _, pattern := range []string{"step-*.log", "new-*.json", "processes.json"} {
		list, _ := filepath.Glob(filepath.Join(st.Folder, pattern))
		for _, name := range list {
			_ = os.Remove(name)
		}
	}
}

// Detach stores the state of processes that are about to be left running.
func (st *State) Detach(files []run.SavedState, processes proc.Snapshot) error {
	st.Files, st.Snapshot = files, processes
	if err := st.write(); err != nil {
		return fmt.Errorf("write the state file: %w", err)
	}
	st.Detached = true
	return nil
}

func (st *State) write() error {
	if err := writePrivate(processesPath(st.Folder), st.Snapshot); err != nil {
		return err
	}
	return writePrivate(statePath(st.Folder), st)
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

// Remove removes the folder of the environment.
func (st *State) Remove() error {
	err := proc.RemoveDir(st.Folder)
	if err != nil {
		st.Release() // where an open file can't be removed
		err = proc.RemoveDir(st.Folder)
	}
	return err
}

// Open reads the environment of the current folder. If none is running, the error
// is ErrNothing, and what a killed --setup-only left is removed.
func Open() (*State, error) {
	dir, err := filepath.Abs(Dir)
	if err != nil {
		return nil, fmt.Errorf("find the current folder: %w", err)
	}
	st := &State{Folder: dir}
	if st.lock, err = takeLock(dir, "mcptest down", nil); err != nil {
		return nil, err
	}
	if err := st.read(); err != nil {
		if errors.Is(err, ErrNothing) {
			_ = st.Remove()
		}
		st.Release()
		return nil, err
	}
	return st, nil
}

func (st *State) read() error {
	data, err := os.ReadFile(statePath(st.Folder))
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNothing
	}
	if err != nil {
		return fmt.Errorf("read the state file: %w", err)
	}
	whole := *st
	if st.Damage = json.Unmarshal(data, &whole); st.Damage == nil && whole.Schema != schema {
		st.Damage = fmt.Errorf("it was written by another version (%q)", whole.Schema)
	}
	if st.Damage != nil {
		return st.rescue()
	}
	*st = whole
	return nil
}

// rescue reads what is needed to end the processes when the state file can't be
// used.
func (st *State) rescue() error {
	data, err := os.ReadFile(processesPath(st.Folder))
	if err == nil {
		err = json.Unmarshal(data, &st.Snapshot)
	}
	if err == nil && len(st.Groups) == 0 && st.Mark == "" {
		err = errors.New("it lists no processes")
	}
	if err != nil {
		return fmt.Errorf("%s can't be used (%w), nor can %s (%w): stop the processes yourself (on Linux `grep -lz ^MCPTEST_RUN= /proc/[0-9]*/environ` lists the processes of every run), then remove the directory %s",
			statePath(Dir), st.Damage, processesPath(Dir), err, Dir)
	}
	return nil
}

// ErrNothing reports that no environment is running here.
var ErrNothing = errors.New("nothing is running here")

// lock is the right to start or stop the environment of a folder: a lock on a
// file in the folder. It ends with the process.
type lock struct{ f *os.File }

// takeLock takes the lock of the folder dir, which make creates if need be.
// Without make the error is ErrNothing when there is no folder. who is what
// others are shown as the holder of the lock.
func takeLock(dir, who string, make func() error) (*lock, error) {
	name := filepath.Join(dir, "lock")
	for range 10 {
		if make != nil {
			if err := make(); err != nil {
				return nil, fmt.Errorf("create the directory for --setup-only: %w", err)
			}
		} else if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			return nil, ErrNothing
		}
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		if errors.Is(err, fs.ErrNotExist) {
			continue // its holder has just removed the folder
		}
		if err != nil {
			return nil, fmt.Errorf("open the lock file of --setup-only: %w", err)
		}
		held, err := osfile.TryLock(f)
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", name, err)
		}
		if !held {
			defer f.Close()
			return nil, fmt.Errorf("another mcptest is using the environment of --setup-only here%s: wait until it has finished", readHolder(f))
		}
		if !isSame(f, name) {
			f.Close()
			continue // a lock on a file that was removed locks nothing
		}
		_ = f.Truncate(0)
		_, _ = f.WriteAt(fmt.Appendf(nil, "pid %d, %s", os.Getpid(), who), 0)
		return &lock{f: f}, nil
	}
	return nil, fmt.Errorf("cannot lock %s: it is a symbolic link, or another mcptest keeps removing it", name)
}

// isSame reports whether the open file is still the one of that name, and no
// link leads to it: its content is about to be replaced.
func isSame(f *os.File, name string) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(name)
	return err == nil && os.SameFile(mine, there)
}

// readHolder is what the holder of a lock wrote into its file.
func readHolder(f *os.File) string {
	text := make([]byte, 200)
	n, _ := f.ReadAt(text, 0)
	who := strings.TrimSpace(string(text[:n]))
	if who == "" {
		return ""
	}
	return " (" + who + ")"
}

// release ends the lock.
func (l *lock) release() {
	if l != nil {
		_ = l.f.Close()
	}
}
