package cli

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"mcptest/internal/plan"
	"mcptest/internal/report"
	"mcptest/internal/secret"
	"mcptest/internal/suite"
)

// lastFailedSchema names the form of the state file.
const lastFailedSchema = "mcptest.last-failed/v1"

// lastFailed is what the state file beside the suites of a folder holds: for
// each suite the tests that failed when they last ran.
type lastFailed struct {
	Schema string `json:"schema"`
	// Failed has for the file name of a suite the names of tests; in the place of
	// a name that holds a secret stands its hash.
	Failed map[string][]string `json:"failed"`
}

func lastFailedPath(dir string) string { return filepath.Join(dir, hereDir, "last-failed.json") }

// readLastFailed reads the state of a folder. One that is missing or of
// another form is an empty one: it is only a memory.
func readLastFailed(dir string) lastFailed {
	st := lastFailed{Schema: lastFailedSchema, Failed: map[string][]string{}}
	data, err := os.ReadFile(lastFailedPath(dir))
	if err != nil {
		return st
	}
	var have lastFailed
	if json.Unmarshal(data, &have) == nil && have.Schema == lastFailedSchema && have.Failed != nil {
		return have
	}
	return st
}

// failedBefore returns the names of the tests of some suites that failed when
// they last ran; nil when none is known.
func failedBefore(suites []*suite.Suite) map[string]bool {
	var names map[string]bool
	for _, su := range suites {
		if su.File == nil {
			continue
		}
		for _, n := range readLastFailed(filepath.Dir(su.File.Path)).Failed[filepath.Base(su.File.Path)] {
			if names == nil {
				names = map[string]bool{}
			}
			names[n] = true
		}
	}
	return names
}

// remember updates the state with what ran now; tests that did not run keep
// what is known of them. A folder that nobody may write to is no fault of the
// run.
func (t *settling) remember(suites []*suite.Suite, hide *secret.Redactor) error {
	var errs []error
	for _, su := range suites {
		if su.File == nil {
			continue
		}
		ran := written(t.outcome[su.File.Name], hide)
		if len(ran) == 0 {
			continue
		}
		dir, base := filepath.Dir(su.File.Path), filepath.Base(su.File.Path)
		st := readLastFailed(dir)
		before := st.Failed[base]
		var now []string
		for _, n := range before {
			if failed, known := ran[n]; !known || failed {
				now = append(now, n)
			}
		}
		for n, failed := range ran {
			if failed && !slices.Contains(before, n) {
				now = append(now, n)
			}
		}
		slices.Sort(now)
		if slices.Equal(before, now) {
			continue
		}
		st.Failed[base] = now
		if len(now) == 0 {
			delete(st.Failed, base)
		}
		errs = append(errs, writeState(dir, "last-failed.json", st))
	}
	return errors.Join(errs...)
}

// written is outcomes by what is written of the tests' names.
func written(outcome map[string]bool, hide *secret.Redactor) map[string]bool {
	out := make(map[string]bool, len(outcome))
	for name, failed := range outcome {
		if hide.String(name) != name {
			name = plan.NameHash(name)
		}
		out[name] = failed
	}
	return out
}

// stateFolder makes the folder beside the suites of dir in which commands keep
// what others are to know.
func stateFolder(dir string) (string, error) {
	folder := filepath.Join(dir, hereDir)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	// What is in here is nobody's to commit.
	ignore := filepath.Join(folder, ".gitignore")
	if _, err := os.Lstat(ignore); errors.Is(err, fs.ErrNotExist) {
		return folder, os.WriteFile(ignore, []byte("*\n"), 0o600)
	}
	return folder, nil
}

// writeState writes what the next run is to know into a file of the folder
// beside the suites, whole or not at all.
func writeState(dir, name string, st any) error {
	folder, err := stateFolder(dir)
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(st, "", "  ")
	if err != nil {
		return err
	}
	sink, err := report.OpenSink(filepath.Join(folder, name), nil)
	if err != nil {
		return err
	}
	if _, err := sink.Write(append(data, '\n')); err != nil {
		sink.Abort()
		return err
	}
	return sink.Commit()
}
