package dotenv

import (
	"maps"
	"runtime"
	"slices"
	"strings"
)

// Environ looks up names in the process environment, then in .env, and records them.
type Environ struct {
	real, dotenv map[string]string
	asked        map[string]bool // names looked up; nil after the suite is loaded
}

// NewEnviron returns an Environ for an environment (NAME=value) and the variables of
// .env.
func NewEnviron(env []string, dotenv []Var) *Environ {
	e := &Environ{
		real:   make(map[string]string, len(env)),
		dotenv: make(map[string]string, len(dotenv)),
		asked:  map[string]bool{},
	}
	for _, kv := range env {
		if k, v, ok := strings.Cut(kv, "="); ok && k != "" {
			e.real[foldName(k)] = v
		}
	}
	for _, v := range dotenv {
		e.dotenv[foldName(v.Name)] = v.Value
	}
	return e
}

// foldName returns the form in which the operating system compares names of
// environment variables.
func foldName(name string) string {
	if runtime.GOOS == "windows" {
		return strings.ToUpper(name)
	}
	return name
}

// Get returns the value of a name.
func (e *Environ) Get(name string) (string, bool) {
	name = foldName(name)
	if e.asked != nil {
		e.asked[name] = true
	}
	if v, ok := e.real[name]; ok {
		return v, true
	}
	v, ok := e.dotenv[name]
	return v, ok
}

// StopRecording returns the names looked up so far and stops recording them, because
// several goroutines expand tests.
func (e *Environ) StopRecording() (read []Var, missing []string) {
	asked := e.asked
	e.asked = nil
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		if value, ok := e.Get(name); ok {
			read = append(read, Var{Name: name, Value: value})
		} else {
			missing = append(missing, name)
		}
	}
	return read, missing
}

// Names returns all names.
func (e *Environ) Names() []string {
	return slices.AppendSeq(slices.Collect(maps.Keys(e.real)), maps.Keys(e.dotenv))
}
