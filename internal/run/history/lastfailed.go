package history

import (
	"errors"
	"path/filepath"
	"slices"

	"mcptest/internal/base/secret"
	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
)

const (
	failedSchema = "mcptest.last-failed/v1"
	failedFile   = "last-failed.json"
)

// failedTests is the content of last-failed.json: for each suite, by file name,
// the tests that failed in their last run. A name that contains a secret is
// replaced by its hash.
type failedTests struct {
	Schema string              `json:"schema"`
	Failed map[string][]string `json:"failed"`
}

func readFailed(dir string) failedTests {
	var have failedTests
	if read(dir, failedFile, &have) && have.Schema == failedSchema && have.Failed != nil {
		return have
	}
	return failedTests{Schema: failedSchema, Failed: map[string][]string{}}
}

// Failed returns the names of the tests of some suites that failed in their
// last run; nil if there are none.
func Failed(suites []*suite.Suite) map[string]bool {
	var names map[string]bool
	for _, su := range suites {
		if su.File == nil {
			continue
		}
		for _, n := range readFailed(filepath.Dir(su.File.Path)).Failed[filepath.Base(su.File.Path)] {
			if names == nil {
				names = map[string]bool{}
			}
			names[n] = true
		}
	}
	return names
}

// KeepFailed stores which tests failed. Tests that did not run keep what is
// known of them.
func (v *Verdicts) KeepFailed(suites []*suite.Suite, hide *secret.Redactor) error {
	var errs []error
	for _, su := range suites {
		if su.File == nil || len(v.outcome[su.File.Name]) == 0 {
			continue
		}
		dir, base := filepath.Dir(su.File.Path), filepath.Base(su.File.Path)
		st := readFailed(dir)
		before := st.Failed[base]
		now := slices.Clone(before)
		for name, failed := range v.outcome[su.File.Name] {
			if hide.String(name) != name {
				name = plan.NameHash(name)
			}
			now = slices.DeleteFunc(now, func(n string) bool { return n == name })
			if failed {
				now = append(now, name)
			}
		}
		now = slices.DeleteFunc(now, func(n string) bool {
			_, ran := v.outcome[su.File.Name][n]
			return !ran && slices.Contains(before, n) && v.isGone(n)
		})
		slices.Sort(now)
		if slices.Equal(before, now) {
			continue
		}
		st.Failed[base] = now
		if len(now) == 0 {
			delete(st.Failed, base)
		}
		errs = append(errs, write(dir, failedFile, st))
	}
	return errors.Join(errs...)
}

// isGone reports whether no suite has a test of this name (or hash of a name) any more.
func (v *Verdicts) isGone(name string) bool {
	for i := 0; v.Complete() && i < v.plan.Len(); i++ {
		if n := v.plan.Case(i).Name; n == name || plan.NameHash(n) == name {
			return false
		}
	}
	return v.Complete()
}
