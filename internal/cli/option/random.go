package option

import (
	"maps"
	"os"
	"path/filepath"

	"mcptest/internal/suite"
	"mcptest/internal/upstream/recording"
)

// random returns the variables for the ${random.KEY} of a suite, and notes them:
// those that a recording has, otherwise new ones. vars wins.
func (f *SuiteFlags) random(s *suite.Suite, vars map[string]string) map[string]string {
	var keys []string
	for _, path := range s.Files {
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			continue // a pipe can be read only once
		}
		if data, err := os.ReadFile(path); err == nil {
			keys = append(keys, recording.RandomKeys(data)...)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	known := map[string]string{}
	for _, e := range s.Upstreams.Entries {
		if e.Value == nil || e.Value.Recording == "" || f.Recorded != nil && f.Recorded(e.Key) {
			continue
		}
		path := e.Value.Recording
		if !filepath.IsAbs(path) {
			path = filepath.Join(s.Dir, filepath.FromSlash(path))
		}
		if file, _ := recording.Read(path, path, e.Key); file != nil { // its mistakes are reported later
			maps.Copy(known, file.Random)
		}
	}
	out := maps.Clone(vars)
	for _, key := range keys {
		name := recording.RandomPrefix + key
		if _, given := out[name]; given {
			continue
		}
		if out[name] = known[key]; out[name] == "" {
			out[name] = recording.NewRandom()
		}
	}
	if f.Random == nil {
		f.Random = map[string]string{}
	}
	for _, key := range keys {
		f.Random[key] = out[recording.RandomPrefix+key]
	}
	return out
}
